import type { Caller } from '../../../platform/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/ids.ts';
import { isAspectRatio } from '../generators/limits.ts';
import type { Submission, TaskService } from '../tasks/service-types.ts';
import type { ImageWork, InputRef, RecipeWork, Work } from '../tasks/task.ts';
import type { VideoTemplateService } from '../video-templates/video-template.ts';
import {
  resolveInputs,
  storeUpload,
  type InputFile,
  type InputFileDependencies,
  type NamedInput,
} from './input-files.ts';
import type {
  DescriptionRequest,
  ImageRequest,
  RecipeRequest,
  StartRequest,
  SubmissionService,
} from './submissions.ts';

export interface SubmissionDependencies extends InputFileDependencies {
  readonly tasks: TaskService;
  readonly videoTemplates: VideoTemplateService;
}

/** Work with its files resolved: what tasks/ needs but for the caller's idempotency key. */
type Prepared = Pick<Submission, 'work' | 'fileIds' | 'fingerprint'>;

/** Who asks, and whether they still wait. */
interface Asker {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Makes the service that turns requests into submissions (submissions.ts says what each verb does). */
export function createSubmissionService(dependencies: SubmissionDependencies): SubmissionService {
  const { tasks } = dependencies;
  return {
    async createTask(caller, request, { idempotencyKey, signal }) {
      const prepared = await prepareRecipe(dependencies, { caller, signal }, request);
      return tasks.submit(caller, { ...prepared, idempotencyKey });
    },
    async generateImage(caller, request, { idempotencyKey, signal }) {
      const prepared = await prepareImage(dependencies, { caller, signal }, request);
      return tasks.submit(caller, { ...prepared, idempotencyKey });
    },
    async describeImage(caller, request, { idempotencyKey, signal }) {
      const prepared = await prepareDescription(dependencies, { caller, signal }, request);
      return tasks.submit(caller, { ...prepared, idempotencyKey });
    },
    async startTask(caller, request, { signal }) {
      const { id, owner, onEnd } = checkedStart(request);
      const prepared = await prepareStart(dependencies, { caller, signal }, request);
      return tasks.start({ ...prepared, id, owner, onEnd, idempotencyKey: null });
    },
    uploadFile: (caller, upload, options) => storeUpload(dependencies, caller, upload, options),
  };
}

function checkedStart(request: StartRequest): StartRequest {
  if (!isUuid(request.id)) throw badInput('id', 'id must be a UUID');
  if (request.owner.trim() === '') throw badInput('owner', 'owner must not be empty');
  return request;
}

function prepareStart(
  dependencies: SubmissionDependencies,
  asker: Asker,
  { start: { recipe = null, image = null } }: StartRequest,
): Promise<Prepared> {
  if (recipe !== null && image === null) return prepareRecipe(dependencies, asker, recipe);
  if (image !== null && recipe === null) return prepareImage(dependencies, asker, image);
  throw badInput('start', 'start takes exactly one of recipe and image');
}

/** The recipe with the template's words at this moment: a task keeps its own copy of what it used. */
async function prepareRecipe(
  dependencies: SubmissionDependencies,
  asker: Asker,
  request: RecipeRequest,
): Promise<Prepared> {
  if (request.prompt.trim() === '') throw badInput('prompt', 'prompt must not be empty');
  const template = await dependencies.videoTemplates.living(request.taskType);
  if (template === null) {
    throw badInput('taskType', `there is no video template with task type ${quoted(request.taskType)}`);
  }
  const inputs = request.image ? [{ field: 'image', input: request.image }] : [];
  const [image] = await resolveInputs(dependencies, { ...asker, inputs });
  const ofTemplate = template.aspectRatio ?? '';
  const work: RecipeWork = {
    taskType: template.taskType,
    prompt: request.prompt,
    ...(image === undefined ? {} : { image: image.ref }),
    // A template may hold any text there (the document does not restrict it); only a usable one is used.
    aspectRatio: request.aspectRatio ?? (isAspectRatio(ofTemplate) ? ofTemplate : '9:16'),
    presetPrompts: template.presetPrompts,
    templatePrompt: template.prompt,
  };
  // What the caller said, not what the template says today: the same request again is the same.
  const { taskType } = template;
  const asked = { taskType, ...withoutAbsent({ prompt: request.prompt, aspectRatio: request.aspectRatio }) };
  return prepared('createTask', { kind: 'RECIPE', ...work }, asked, image === undefined ? [] : [image]);
}

async function prepareImage(
  dependencies: SubmissionDependencies,
  asker: Asker,
  request: ImageRequest,
): Promise<Prepared> {
  const { images: sent, generator, prompt, ...rest } = request;
  const inputs = (sent ?? []).map((input, index): NamedInput => ({ field: `images[${index}]`, input }));
  const files = await resolveInputs(dependencies, { ...asker, inputs });
  const asked: Omit<ImageWork, 'images'> = { generator, prompt, ...withoutAbsent(rest) };
  const images: readonly InputRef[] = files.map(({ ref }) => ref);
  const work: Work = { kind: 'IMAGE', ...asked, ...(images.length === 0 ? {} : { images }) };
  return prepared('generateImage', work, asked, files);
}

async function prepareDescription(
  dependencies: SubmissionDependencies,
  asker: Asker,
  { generator, image: input }: DescriptionRequest,
): Promise<Prepared> {
  const inputs = [{ field: 'image', input }];
  const [image] = await resolveInputs(dependencies, { ...asker, inputs });
  if (image === undefined) throw new Error('one input was resolved to none');
  const work: Work = { kind: 'DESCRIPTION', generator, image: image.ref };
  return prepared('describeImage', work, { generator }, [image]);
}

/** The fingerprint: the operation and what was asked, files by their content, so that a repeated upload is the same. */
function prepared(operation: string, work: Work, asked: object, files: readonly InputFile[]): Prepared {
  return {
    work,
    fileIds: files.flatMap(({ ref }) => ('fileId' in ref ? [ref.fileId] : [])),
    fingerprint: { operation, ...asked, files: files.map(({ identity }) => identity) },
  };
}

type Given<Shape> = { [Name in keyof Shape]?: NonNullable<Shape[Name]> };

/** Only the members that have a value: null and absent are the same in an input. */
function withoutAbsent<Shape extends object>(shape: Shape): Given<Shape> {
  return Object.fromEntries(
    Object.entries(shape).filter(([, value]) => value !== null && value !== undefined),
  ) as Given<Shape>;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
