import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { RequestKind, RequestOf } from '../../domain/work/request.ts';
import type { Handle, JobCapability, Outcome, Provider, StartContext } from '../contract/provider.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { addressFor, createSendAction, type SendAction } from './request.ts';
import { avatarSources } from './vod.ts';
import {
  avatarOutcome,
  detectionOutcome,
  startedTask,
  taskStatus,
  videoOutcome,
  type TaskData,
} from './wire.ts';

/**
 * Volcengine's visual service: person detection in an image, talking images (OmniHuman), avatars cloned from a video
 * and their speech. Every request is signed; the service downloads every input, so files need a URL that it can reach.
 * The wire has no field for a caller's reference and no cancel; a task is polled with the key of its service.
 */
export function createVolcengine({ http }: { readonly http: HttpClient }): Provider {
  const sendAction = createSendAction(http);
  return {
    name: 'volcengine',
    fetchesInputs: true,
    jobs: {
      PERSON_DETECTION: task(sendAction, detection),
      HUMAN_VIDEO: task(sendAction, humanVideo),
      AVATAR_SOURCE: avatarSources(sendAction),
      AVATAR: task(sendAction, avatar),
      AVATAR_VIDEO: task(sendAction, avatarVideo),
    },
  };
}

/** One service: a kind of work that CVSubmitTask takes. */
interface Service<Kind extends RequestKind> {
  readonly kind: Kind;
  /** The service's key unless the binding names a model. */
  readonly key: string;
  readonly pollMs: number;
  readonly body: (request: RequestOf<Kind>) => object;
  readonly outcome: (data: TaskData) => Outcome;
}

const detection: Service<'PERSON_DETECTION'> = {
  kind: 'PERSON_DETECTION',
  key: 'jimeng_realman_avatar_picture_create_role_omni_v15',
  pollMs: 1_500,
  body: ({ image }) => ({ image_url: addressFor(image, 'image') }),
  outcome: detectionOutcome,
};

const humanVideo: Service<'HUMAN_VIDEO'> = {
  kind: 'HUMAN_VIDEO',
  key: 'jimeng_realman_avatar_picture_omni_v15',
  pollMs: 2_000,
  body: ({ image, audio, prompt, resolution }) => ({
    image_url: addressFor(image, 'image'),
    audio_url: addressFor(audio, 'audio'),
    prompt,
    output_resolution: resolution && Number.parseInt(resolution, 10),
  }),
  outcome: videoOutcome,
};

const avatar: Service<'AVATAR'> = {
  kind: 'AVATAR',
  key: 'realman_avatar_training_task_streaming',
  pollMs: 5_000,
  body: ({ videoId }) => ({ vid: videoId }),
  outcome: avatarOutcome,
};

const avatarVideo: Service<'AVATAR_VIDEO'> = {
  kind: 'AVATAR_VIDEO',
  key: 'realman_avatar_creation_task',
  pollMs: 2_000,
  body: ({ digitalId, audio }) => ({ resource_id: digitalId, audio_url: addressFor(audio, 'audio') }),
  outcome: videoOutcome,
};

const VERSION = '2022-08-31';

function task<Kind extends RequestKind>(
  sendAction: SendAction,
  service: Service<Kind>,
): JobCapability<RequestOf<Kind>> {
  return {
    pollMs: service.pollMs,
    start: (request, context) => start(sendAction, service, { request, context }),
    async status(handle, context) {
      const json = { req_key: readText(handle, 'key'), task_id: readText(handle, 'task') };
      const lookup = { name: 'CVGetResult', version: VERSION, json, retry: 'safe' } as const;
      return taskStatus(await sendAction(context, { service: 'cv', method: 'POST', ...lookup }), service);
    },
  };
}

async function start<Kind extends RequestKind>(
  sendAction: SendAction,
  { kind, key, body }: Service<Kind>,
  { request, context }: { readonly request: RequestOf<Kind>; readonly context: StartContext },
): Promise<Handle> {
  const name = context.connection.model ?? key;
  const json = withVendorOptions(request, { req_key: name, ...body(request) });
  const submission = { service: 'cv', method: 'POST', name: 'CVSubmitTask', version: VERSION, json } as const;
  return { key: name, task: startedTask(await sendAction(context, submission), kind) };
}

function readText(handle: Handle, name: 'key' | 'task'): string {
  const value = handle[name];
  if (typeof value === 'string') return value;
  throw new UpstreamError('LOST', 'volcengine: the handle names no task');
}
