import { AppError, badInput } from '../../../platform/errors.ts';
import { newTraceId } from '../../../platform/ids.ts';
import type { RunnableChecks, Template, Unrunnable, WorkflowNames } from '../domain/template.ts';
import { isFinalRefusal, type MediaClient } from './media-client.ts';
import { toStartInput } from './workflows.ts';

/** The dependencies of the checks. */
export interface RunnableDependencies {
  readonly media: Pick<MediaClient, 'checkStart'>;
  readonly workflowNames: WorkflowNames;
}

/** The template's field at fault, by media's. Any other field of media's input is filled by parameters. */
const FIELDS: Readonly<Record<string, string>> = {
  workflow: 'workflow',
  workflowName: 'workflow',
  generator: 'workflow',
  model: 'imageModel',
};

/** Creates the checks (documented in domain/template.ts). */
export function createRunnableChecks(dependencies: RunnableDependencies): RunnableChecks {
  return {
    async check(template) {
      const refused = await refusal(dependencies, template);
      // What is only not set up here can be run once it is.
      if (refused === null || refused.code === 'NOT_CONFIGURED') return;
      const field = FIELDS[refused.field ?? ''] ?? 'workflow';
      const isUnknownWorkflow = refused.code === 'CONFLICT' && refused.field === 'workflow';
      const more = isUnknownWorkflow ? await graphsFor(dependencies, template) : '';
      throw badInput(field, `${field}: ${withoutField(refused)}${more}`);
    },
    async reasons(templates) {
      // Templates of one workflow and model share an answer.
      const requested = new Map<string, Promise<Unrunnable | null>>();
      const findReason = (template: Template) => {
        const key = JSON.stringify([template.workflow, template.imageModel]);
        const reason = requested.get(key) ?? reasonFor(dependencies, template);
        requested.set(key, reason);
        return reason;
      };
      const reasons: (Unrunnable | null)[] = [];
      for (const template of templates) reasons.push(await findReason(template));
      return reasons;
    },
  };
}

async function reasonFor(dependencies: RunnableDependencies, template: Template): Promise<Unrunnable | null> {
  try {
    const refused = await refusal(dependencies, template);
    if (refused === null) return null;
    const generator = refused.code === 'NOT_CONFIGURED' ? chooseGenerator(template, dependencies) : null;
    return { reason: `it can't be run now: ${withoutField(refused)}`, generator };
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'UNAVAILABLE') return null;
    throw thrown;
  }
}

/** The generator that a template asks for. */
function chooseGenerator(template: Template, dependencies: RunnableDependencies): string {
  const { image, video } = createTestStart(template, dependencies);
  const { generator } = (image ?? video ?? {}) as { readonly generator?: string };
  return generator ?? 'comfy';
}

/** A start with words of our own, so that only the template can be refused. */
function createTestStart(template: Template, { workflowNames }: RunnableDependencies) {
  return toStartInput({ ...template, imagePrompt: null }, { prompt: 'a test' }, workflowNames);
}

/** Why the template itself is refused; null when it is not. */
async function refusal(dependencies: RunnableDependencies, template: Template): Promise<AppError | null> {
  try {
    await dependencies.media.checkStart(createTestStart(template, dependencies), newTraceId());
    return null;
  } catch (thrown) {
    if (!isFinalRefusal(thrown)) throw thrown;
    const [field = ''] = /^\w*/.exec(thrown.field ?? '') ?? [];
    const isOfTemplate = Object.hasOwn(FIELDS, field) || thrown.code === 'NOT_CONFIGURED';
    return isOfTemplate ? thrown : null;
  }
}

/** What media says of a graph with the name of an unknown workflow: those that it has, or that it is one. */
async function graphsFor({ media }: RunnableDependencies, { workflow }: Template): Promise<string> {
  const isGraph = `; comfy:${workflow} is one`;
  try {
    await media.checkStart({ comfy: { workflowName: workflow, inputs: {} } }, newTraceId());
    return isGraph;
  } catch (thrown) {
    if (!isFinalRefusal(thrown)) throw thrown;
    return thrown.field === 'workflowName' ? `; ${withoutField(thrown)}` : isGraph;
  }
}

function withoutField({ field = '', message }: AppError): string {
  return message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
}
