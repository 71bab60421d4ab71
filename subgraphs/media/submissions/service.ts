import { enforceGenerator, type Caller } from '../../../platform/access/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import type { OutboundRule } from '../../../platform/http/safe-url.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { Task } from '../domain/task.ts';
import { stepKinds, workKinds, type Work } from '../domain/work/work.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import { learnModel } from '../generators/bindings/learn-model.ts';
import type { TaskService } from '../tasks/rules/task-service.ts';
import { storeUpload } from '../uploads/store-upload.ts';
import { checkedCallbackUrl } from '../webhooks/callback-url.ts';
import { prepareComfy } from './comfy.ts';
import { prepareKind, type PrepareDependencies, type Prepared, type Requester } from './prepare.ts';
import { prepareRecipe, type RecipeDependencies } from './recipe.ts';
import {
  checkAddresses,
  fetchInputsOf,
  fittingComfy,
  withGenerator,
  type FetchedInput,
} from './startable.ts';
import type {
  KindSubmissions,
  PlainKind,
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
      enforceGenerator(caller, generatorOf(ready.work));
      checkAddresses(outbound, ready.work);
      if (ready.work.kind !== 'RECIPE') await learnModel(dependencies.registry, ready.work);
      return tasks.submit(caller, { ...ready, idempotencyKey, joinSeconds, callbackUrl });
    };
  }
  const ofKinds = stepKinds
    .filter((kind) => kind !== 'COMFY_WORKFLOW')
    .map((kind) => [workKinds[kind].mutation, submission(prepareOf(kind))] as const);
  return {
    ...(Object.fromEntries(ofKinds) as unknown as KindSubmissions),
    createTask: submission(prepareRecipe),
    runComfyWorkflow: submission(prepareComfy),
    async startTask(caller, request, { signal }) {
      const { id, owner, onEnd, sold } = checkedStart(request);
      const ready = await prepareStart(dependencies, { caller, signal }, request.start);
      const { traceId } = caller;
      return tasks.start({ ...ready, id, owner, onEnd, sold, traceId, idempotencyKey: null });
    },
    async checkStart(caller, start, { fetchInputs, account, signal }) {
      const { work } = await prepareStart(dependencies, { caller, signal }, start);
      enforceGenerator(caller, generatorOf(work));
      checkAddresses(outbound, work);
      await tasks.check(work, account);
      if (fetchInputs) await fetchInputsOf(work, (input) => dependencies.fetchInput({ ...input, signal }));
    },
    uploadFile: (caller, upload, options) =>
      storeUpload(dependencies, caller, upload, { ...options, asDeclared: true }),
  };
}

function prepareOf<Kind extends PlainKind>(kind: Kind): Prepare<RequestFor<Kind>> {
  return (dependencies, requester, request) => prepareKind(dependencies, requester, { kind, request });
}

/** What the allow-list of a key calls the work. */
function generatorOf(work: Work): string {
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
    if (comfy) return prepareComfy(dependencies, requester, fittingComfy(comfy));
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
