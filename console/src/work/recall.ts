import type { StoredFile } from '../api/kiln.ts';
import type { Draft } from './keeper.ts';
import {
  type Choice,
  listChoices,
  listMembersOfKind,
  type Model,
  type Tab,
  findTab,
  type Values,
} from './work.ts';

/** A task's own record of what it was asked for, as the API answers it. */
export interface RecordedTask {
  readonly kind: string;
  readonly generator: string;
  readonly model?: string | null;
  readonly input: {
    readonly prompt: string | null;
    readonly model: string | null;
    readonly options: unknown;
    readonly files: readonly {
      readonly input: string;
      readonly media: (StoredFile & { readonly name?: string }) | null;
    }[];
  } | null;
}

/** A filled form, and the tab that it is on. */
export interface Recalled {
  readonly tab: Tab;
  readonly draft: Draft;
}

/** The form that would start the same again, on any device; null when the task does not tell, or no form starts it. */
export function recallTask(task: RecordedTask): Recalled | null {
  const { kind, generator, input } = task;
  const members = listMembersOfKind(kind);
  if (input === null || members === null) return null;
  const words = members.includes('text') && !members.includes('prompt') ? 'text' : 'prompt';
  const values: Record<string, unknown> = {
    ...(input.prompt === null ? {} : { [words]: input.prompt }),
    ...(input.options as Readonly<Record<string, unknown>>),
    ...comfyValues(kind, input.options),
  };
  for (const { input: name, media } of input.files) {
    if (media === null) continue;
    const { id, url, contentType, bytes } = media;
    const file = { id, url, contentType, bytes };
    const before = values[name];
    values[name] = name === 'images' ? [...(Array.isArray(before) ? before : []), file] : file;
  }
  const model = input.model ?? task.model ?? '';
  return { tab: findTab(kind), draft: { key: `${kind} ${generator} ${model}`, values } };
}

/** The choice that a recalled form was filled for; undefined when it is no longer offered. */
export function findRecalledChoice(recalled: Recalled | null, models: readonly Model[]): Choice | undefined {
  if (recalled === null) return undefined;
  return listChoices(recalled.tab, models).find(({ key }) => key === recalled.draft.key);
}

/** The form holds the inputs of a ComfyUI workflow below `comfy.`. */
function comfyValues(kind: string, options: unknown): Values {
  const { inputs } = options as { readonly inputs?: Values };
  if (kind !== 'COMFY_WORKFLOW' || inputs === undefined) return {};
  return Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`comfy.${name}`, value]));
}
