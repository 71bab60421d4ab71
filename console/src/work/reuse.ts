import type { MediaPartsFragment } from '../api/documents/operations.ts';
import type { StoredFile } from '../api/kiln.ts';
import { ACCEPTED, accepts } from './files.ts';
import { type Draft, readDraft } from './keeper.ts';
import { WORK, type WorkKind } from './kinds.ts';
import { current } from './model-words.ts';
import { withOption } from './options/fields.ts';
import { type Choice, listChoices, listMembers, type Model, type Tab, TABS, type Values } from './work.ts';

/** A result as an input of the next work. */
export function storedFile({ id, url, contentType, bytes }: MediaPartsFragment): StoredFile {
  return { id, url, contentType, bytes };
}

/** The settings of a variant: the image is the reference where the model takes one, and no seed repeats it. */
export function makeVariant(choice: Choice, values: Values, media: MediaPartsFragment): Values {
  const { seed: _, options, ...others } = values;
  const rest = options === undefined ? others : { ...others, options: withOption(options, ['seed'], null) };
  const member = listMembers(choice).includes('images') ? 'images' : null;
  if (member === null || !media.contentType.startsWith('image/')) return rest;
  return { ...rest, [member]: [storedFile(media)] };
}

/** A place in a form that takes a file. */
export interface FilePlace {
  readonly tab: Tab;
  readonly kind: WorkKind;
  readonly member: string;
}

/** Forms that say nothing more with a file than another one does. */
const NOT_OFFERED: ReadonlySet<string> = new Set(['PERSON_DETECTION']);

/** Every place that takes a file of this type, in the order of the tabs, as far as a model is there for it. */
export function placesFor(contentType: string, models: readonly Model[]): readonly FilePlace[] {
  const usable = current(models);
  return TABS.flatMap(({ tab, kinds }) =>
    kinds
      .filter((kind) => !NOT_OFFERED.has(kind))
      .flatMap((kind) => {
        const takers = usable.filter((model) => model.kinds.includes(kind));
        return (WORK[kind].members as readonly string[])
          .filter((member) => accepts(ACCEPTED[member] ?? '', contentType))
          .filter((member) => takers.some(({ inputs }) => inputs.includes(member)))
          .map((member) => ({ tab, kind, member }));
      }),
  );
}

/** The form with a file in this place; what else is filled in there stays. Null where no model takes it. */
export function formAt(
  { tab, kind, member }: FilePlace,
  media: MediaPartsFragment,
  models: readonly Model[],
): Draft | null {
  const before = readDraft(tab);
  const choices = listChoices(tab, current(models)).filter(
    (choice) => choice.kind === kind && listMembers(choice).includes(member),
  );
  const choice =
    choices.find(({ key }) => key === before?.key) ??
    choices.find(({ model }) => model.allowed && !model.paused) ??
    choices[0];
  if (choice === undefined) return null;
  const file = storedFile(media);
  const value = member === 'images' ? withImage(before?.values['images'], file, choice) : file;
  return { key: choice.key, values: { ...before?.values, [member]: value } };
}

/** The references with one more; the last one makes room where there is none. */
function withImage(before: unknown, file: StoredFile, { model }: Choice): readonly StoredFile[] {
  const others = (Array.isArray(before) ? (before as StoredFile[]) : []).filter(({ id }) => id !== file.id);
  return [...others.slice(0, (model.maxImages ?? Number.POSITIVE_INFINITY) - 1), file];
}
