import type { Caller } from '../../../platform/access/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import type { OutboundRule } from '../../../platform/http/safe-url.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { Task } from '../domain/task.ts';
import { storeUpload } from '../files/store-upload.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { TaskService } from '../tasks/rules/task-service.ts';
import { checkedCallbackUrl } from '../webhooks/callback-url.ts';
import { prepareComfy } from './comfy.ts';
import { prepareAnalysis } from './kinds/analysis.ts';
import {
  prepareAvatar,
  prepareAvatarSource,
  prepareAvatarVideo,
  type AvatarDependencies,
} from './kinds/avatar.ts';
import { prepareCharacter, prepareCharacterImage } from './kinds/character.ts';
import { prepareDetection, prepareHumanVideo } from './kinds/human-video.ts';
import { prepareDescription, prepareImage } from './kinds/image.ts';
import { prepareLipSync } from './kinds/lip-sync.ts';
import { prepareSpeech, prepareVoiceClone } from './kinds/speech.ts';
import { prepareFrameVideo, prepareVideo } from './kinds/video.ts';
import type { Asker, Prepared } from './prepare.ts';
import { prepareRecipe, type RecipeDependencies } from './recipe.ts';
import { checkAddresses, fittingComfy, withGenerator } from './startable.ts';
import type { StartRequest, SubmissionOptions, SubmissionService } from './submissions.ts';

/** What all submissions together need. */
export interface SubmissionDependencies extends RecipeDependencies, AvatarDependencies {
  readonly tasks: TaskService;
  /** Says which addresses may be called back, or fetched. */
  readonly outbound: OutboundRule;
  /** Knows which generator has a model. */
  readonly registry: Pick<GeneratorRegistry, 'all'>;
}

/** Makes the service that turns requests into submissions (submissions.ts says what each verb does). */
export function createSubmissionService(dependencies: SubmissionDependencies): SubmissionService {
  const { tasks, outbound } = dependencies;
  /** A verb: prepares its request, then submits it. */
  function verb<Request>(
    prepare: (dependencies: SubmissionDependencies, asker: Asker, request: Request) => Promise<Prepared>,
  ) {
    return async (
      caller: Caller,
      request: Request,
      { idempotencyKey, callbackUrl: callback = null, signal }: SubmissionOptions,
    ): Promise<Task> => {
      const callbackUrl = callback === null ? null : checkedCallbackUrl(outbound, callback);
      const ready = await prepare(dependencies, { caller, signal }, request);
      return tasks.submit(caller, { ...ready, idempotencyKey, callbackUrl });
    };
  }
  return {
    createTask: verb(prepareRecipe),
    generateImage: verb(prepareImage),
    describeImage: verb(prepareDescription),
    generateVideo: verb(prepareVideo),
    synthesizeSpeech: verb(async (_, __, request) => prepareSpeech(request)),
    cloneVoice: verb(prepareVoiceClone),
    analyzeMedia: verb(prepareAnalysis),
    runComfyWorkflow: verb(prepareComfy),
    generateFrameVideo: verb(prepareFrameVideo),
    lipSync: verb(prepareLipSync),
    createCharacter: verb(prepareCharacter),
    generateCharacterImage: verb(async (_, __, request) => prepareCharacterImage(request)),
    detectPerson: verb(prepareDetection),
    generateHumanVideo: verb(prepareHumanVideo),
    uploadAvatarSource: verb(prepareAvatarSource),
    createAvatar: verb(async (_, __, request) => prepareAvatar(request)),
    generateAvatarVideo: verb(prepareAvatarVideo),
    async startTask(caller, request, { signal }) {
      const { id, owner, onEnd } = checkedStart(request);
      const ready = await prepareStart(dependencies, { caller, signal }, request.start);
      return tasks.start({ ...ready, id, owner, onEnd, idempotencyKey: null });
    },
    async checkStart(caller, start, { signal }) {
      const { work } = await prepareStart(dependencies, { caller, signal }, start);
      checkAddresses(outbound, work);
      tasks.check(work);
    },
    uploadFile: (caller, upload, options) => storeUpload(dependencies, caller, upload, options),
  };
}

function checkedStart(request: StartRequest): StartRequest {
  if (!isUuid(request.id)) throw badInput('id', 'id must be a UUID');
  if (request.owner.trim() === '') throw badInput('owner', 'owner must not be empty');
  return request;
}

async function prepareStart(
  dependencies: SubmissionDependencies,
  asker: Asker,
  { recipe, image, video, comfy }: StartRequest['start'],
): Promise<Prepared> {
  if ([recipe, image, video, comfy].filter(Boolean).length === 1) {
    if (recipe) return prepareRecipe(dependencies, asker, recipe);
    const { registry } = dependencies;
    if (image) return prepareImage(dependencies, asker, withGenerator(registry, 'IMAGE', image));
    if (video) return prepareVideo(dependencies, asker, withGenerator(registry, 'VIDEO', video));
    if (comfy) return prepareComfy(dependencies, asker, fittingComfy(comfy));
  }
  throw badInput('start', 'start takes exactly one of recipe, image, video and comfy');
}
