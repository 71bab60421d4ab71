import { type Caller, enforceGenerator } from '../../../platform/access/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import type { OutboundRule } from '../../../platform/http/safe-url.ts';
import { isUuid } from '../../../platform/ids.ts';
import { comfyWorkflows } from '../comfy-workflows/comfy-workflows.ts';
import { resolveComfyWorkflow } from '../comfy-workflows/resolve.ts';
import {
  refuseNotInstalled,
  type RunnableWorkflow,
  type SavedWorkflows,
} from '../comfy-workflows/saved/workflow.ts';
import { isAspectRatio, notEmpty } from '../domain/inputs/checks.ts';
import type { Task } from '../domain/task.ts';
import { comfyKinds, type ComfyWork } from '../domain/work/comfy.ts';
import { checkedStepOptions, type RecipeWork } from '../domain/work/recipe.ts';
import { stepKinds, type Work, workKinds } from '../domain/work/work.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import { learnModel } from '../generators/bindings/find-models.ts';
import type { TaskService } from '../tasks/rules/task-service.ts';
import { storeUpload } from '../uploads/store-upload.ts';
import type { VideoTemplateService } from '../video-templates/video-template.ts';
import { checkedCallbackUrl } from '../webhooks/callback-url.ts';
import {
  prepare,
  type Prepared,
  prepared,
  type PrepareDependencies,
  prepareKind,
  type Requester,
  withoutAbsent,
} from './prepare.ts';
import { type InputDependencies, resolveInputs } from './resolve-inputs.ts';
import {
  checkAddresses,
  type FetchedInput,
  fetchForeignInputs,
  fittingComfy,
  withGenerator,
} from './startable.ts';
import type {
  ComfyRequest,
  KindSubmissions,
  MediaInput,
  PlainKind,
  RecipeRequest,
  RequestFor,
  StartRequest,
  SubmissionOptions,
  SubmissionService,
} from './submissions.ts';

/** What all submissions together need. */
export interface SubmissionDependencies extends RecipeDependencies, PrepareDependencies {
  readonly tasks: TaskService;
  /** Says which addresses may be called back, or fetched. */
  readonly outbound: OutboundRule;
  /** Fetches an input at a foreign address, as a start would. Throws UpstreamError when it can't be had. */
  readonly fetchInput: (input: FetchedInput & { readonly signal: AbortSignal }) => Promise<unknown>;
  /** Knows which generator has a model. */
  readonly registry: Pick<GeneratorRegistry, 'all'>;
  readonly savedWorkflows: Pick<SavedWorkflows, 'runnable'>;
}

type Prepare<Request> = (
  dependencies: SubmissionDependencies,
  requester: Requester,
  request: Request,
) => Promise<Prepared>;

/** Makes the service that turns requests into submissions (submissions.ts says what each verb does). */
export function createSubmissionService(dependencies: SubmissionDependencies): SubmissionService {
  const { tasks, outbound } = dependencies;
  /** A submission: prepares its request, then hands it to tasks/. */
  function submission<Request>(prepare: Prepare<Request>) {
    return async (
      caller: Caller,
      request: Request,
      { idempotencyKey, joinSeconds, callbackUrl: callback = null, signal }: SubmissionOptions,
    ): Promise<Task> => {
      const callbackUrl = callback === null ? null : checkedCallbackUrl(outbound, callback);
      const ready = await prepare(dependencies, { caller, signal }, request);
      enforceGenerator(caller, findGenerator(ready.work));
      checkAddresses(outbound, ready.work);
      if (ready.work.kind !== 'RECIPE') {
        await learnModel(dependencies.registry, ready.work);
        await refuseNotInstalled(dependencies.registry, ready.work, signal);
      }
      return tasks.submit(caller, { ...ready, idempotencyKey, joinSeconds, callbackUrl });
    };
  }
  const ofKinds = stepKinds
    .filter((kind) => kind !== 'COMFY_WORKFLOW')
    .map((kind) => [workKinds[kind].mutation, submission(createPrepare(kind))] as const);
  return {
    ...(Object.fromEntries(ofKinds) as unknown as KindSubmissions),
    createTask: submission(prepareRecipe),
    runComfyWorkflow: submission((parts, requester, request: ComfyRequest) =>
      prepareComfy(parts, requester, request),
    ),
    async startTask(caller, request, { signal }) {
      const { id, owner, onEnd, sold } = checkedStart(request);
      const ready = await prepareStart(dependencies, { caller, signal }, request.start);
      const { traceId } = caller;
      return tasks.start({ ...ready, id, owner, onEnd, sold, traceId, idempotencyKey: null });
    },
    async checkStart(caller, start, { fetchInputs, account, signal }) {
      const { work } = await prepareStart(dependencies, { caller, signal }, start);
      enforceGenerator(caller, findGenerator(work));
      checkAddresses(outbound, work);
      if (work.kind !== 'RECIPE') await refuseNotInstalled(dependencies.registry, work, signal);
      await tasks.check(work, account);
      if (fetchInputs)
        await fetchForeignInputs(work, (input) => dependencies.fetchInput({ ...input, signal }));
    },
    uploadFile: (caller, upload, options) => storeUpload(dependencies, caller, upload, options),
  };
}

function createPrepare<Kind extends PlainKind>(kind: Kind): Prepare<RequestFor<Kind>> {
  return (dependencies, requester, request) => prepareKind(dependencies, requester, { kind, request });
}

/** What the allow-list of a key calls the work. */
function findGenerator(work: Work): string {
  return work.kind === 'RECIPE' ? 'recipe' : work.generator;
}

function checkedStart(request: StartRequest): StartRequest {
  if (!isUuid(request.id)) throw badInput('id', 'id must be a UUID');
  if (request.owner.trim() === '') throw badInput('owner', 'owner must not be empty');
  return request;
}

async function prepareStart(
  dependencies: SubmissionDependencies,
  requester: Requester,
  { recipe, image, video, comfy }: StartRequest['start'],
): Promise<Prepared> {
  if ([recipe, image, video, comfy].filter(Boolean).length === 1) {
    const { registry } = dependencies;
    if (recipe) return prepareRecipe(dependencies, requester, recipe);
    if (comfy) return prepareComfy(dependencies, requester, comfy, { fits: true });
    if (image) {
      await learnModel(registry, { ...image, kind: 'IMAGE' });
      const request = withGenerator(registry, 'IMAGE', image);
      return prepareKind(dependencies, requester, { kind: 'IMAGE', request });
    }
    if (video) {
      await learnModel(registry, { ...video, kind: 'VIDEO' });
      const request = withGenerator(registry, 'VIDEO', video);
      return prepareKind(dependencies, requester, { kind: 'VIDEO', request });
    }
  }
  throw badInput('start', 'start takes exactly one of recipe, image, video and comfy');
}

/** A comfy workflow with its inputs filled in and its files resolved. */
async function prepareComfy(
  dependencies: SubmissionDependencies,
  requester: Requester,
  sent: ComfyRequest,
  { fits = false }: { readonly fits?: boolean } = {},
): Promise<Prepared> {
  const named = namedComfy(sent);
  const { workflowName, node } = named;
  const saved = await readSaved(dependencies, requester, named);
  const request = fits ? fittingComfy(named, saved) : named;
  const { workflow, files } = resolveComfyWorkflow(request, saved);
  const work: ComfyWork<MediaInput> = {
    kind: 'COMFY_WORKFLOW',
    generator: comfyKinds.COMFY_WORKFLOW.generator,
    workflow,
    ...(workflowName ? { workflowName } : {}),
    ...(saved && { workflowVersion: saved.version, outputs: saved.outputs }),
    ...(node ? { node } : {}),
    files: Object.fromEntries(files.map(({ target, input }) => [target, input])),
  };
  const fields = new Map(files.map(({ target, field }) => [target, field]));
  return prepare(dependencies, requester, work, ({ key = '', field }) => fields.get(String(key)) ?? field);
}

/** The request with its graph under one name: `model` is a name, `options` are inputs. */
function namedComfy({ model, options, ...request }: ComfyRequest): ComfyRequest {
  const given = [request.workflow, request.workflowName, model].filter((one) => (one ?? null) !== null);
  if (given.length > 1) throw badInput('workflow', 'give exactly one of workflow, workflowName and model');
  if ((options ?? null) !== null && (request.inputs ?? null) !== null) {
    throw badInput('options', 'options and inputs are the same: give one of them');
  }
  return { ...request, workflowName: model ?? request.workflowName, inputs: request.inputs ?? options };
}

/** The saved graph that a request names; null: it names none, or a bundled one. */
async function readSaved(
  { savedWorkflows }: SubmissionDependencies,
  { caller }: Requester,
  { workflowName, version }: ComfyRequest,
): Promise<RunnableWorkflow | null> {
  const isSaved = Boolean(workflowName) && !comfyWorkflows.some(({ name }) => name === workflowName);
  if (isSaved) return savedWorkflows.runnable(caller, workflowName ?? '', version ?? null);
  if ((version ?? null) !== null) throw badInput('version', 'only saved workflows have versions');
  return null;
}

/** What recipes need besides: the templates with their prompts. */
interface RecipeDependencies extends InputDependencies {
  readonly videoTemplates: VideoTemplateService;
}

/** The recipe with the template's texts at this moment: a task stores its own copy of what it used. */
async function prepareRecipe(
  dependencies: RecipeDependencies,
  requester: Requester,
  request: RecipeRequest,
): Promise<Prepared> {
  const { prompt, aspectRatio } = notEmpty(request, 'prompt');
  const options = checkedStepOptions(request.options);
  const template = await dependencies.videoTemplates.living(request.taskType);
  if (template === null) {
    const name = JSON.stringify(request.taskType.slice(0, 100));
    throw badInput('taskType', `there is no video template with task type ${name}`);
  }
  const inputs = request.image ? ([{ field: 'image', input: request.image, kind: 'image' }] as const) : [];
  const files = await resolveInputs(dependencies, { ...requester, inputs });
  const [image] = files;
  const { taskType, presetPrompts, prompt: templatePrompt, aspectRatio: ofTemplate } = template;
  const work: RecipeWork = {
    kind: 'RECIPE',
    taskType,
    prompt,
    ...(image && { image: image.ref }),
    // A template may hold any text there (the document does not restrict it); only a usable one is used.
    aspectRatio: aspectRatio ?? (ofTemplate !== null && isAspectRatio(ofTemplate) ? ofTemplate : '9:16'),
    presetPrompts,
    templatePrompt,
    ...(options && { options }),
  };
  // What the caller sent, not what the template contains today: a repeated request stays the same.
  const sent = { taskType, ...withoutAbsent({ prompt, aspectRatio, options }) };
  return prepared({ operation: 'createTask', work, request: sent, files });
}
