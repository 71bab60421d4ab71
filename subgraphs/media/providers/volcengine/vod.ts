import { z } from 'zod';

import { refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Connection, JobCapability, JobStatus } from '../contract/provider.ts';
import type { ExchangeAnswer } from '../shared/exchange.ts';
import { listOf, text } from '../shared/reader.ts';
import { errorOfGateway } from './refusals.ts';
import { addressFor, type SendAction } from './request.ts';
import { gatewayMessage, unreadable } from './wire.ts';

/** Volcengine's video storage: it downloads a video by itself and names it by a Vid. */

const VERSION = '2020-08-01';

const job = z.object({ JobId: z.string().min(1) });
const started = z.object({ Result: z.object({ Data: z.tuple([job]).rest(job) }) });
const mediaInfos = z.object({
  Result: z.object({
    Data: z.object({
      MediaInfoList: listOf(z.object({ JobId: text, State: text, Vid: text })).nullish(),
      NotExistJobIds: listOf(z.string()).nullish(),
    }),
  }),
});

/** Video uploads for avatars. */
export function avatarSources(sendAction: SendAction): JobCapability<RequestOf<'AVATAR_SOURCE'>> {
  return {
    pollMs: 2_000,
    async start(request, context) {
      const source = { SourceUrl: addressFor(request.video, 'source'), FileExtension: '.mp4' };
      const answer = await sendAction(context, {
        service: 'vod',
        method: 'POST',
        name: 'UploadMediaByUrl',
        version: VERSION,
        form: { SpaceName: readSpace(context.connection), URLSets: JSON.stringify([source]) },
      });
      return { job: read(answer, started).Result.Data[0].JobId };
    },
    async status({ job: id }, context) {
      const JobIds = typeof id === 'string' ? id : '';
      const lookup = { name: 'QueryUploadTaskInfo', version: VERSION, query: { JobIds } } as const;
      const answer = await sendAction(context, { service: 'vod', method: 'GET', ...lookup, retry: 'safe' });
      return uploadStatus(read(answer, mediaInfos).Result.Data, JobIds);
    },
  };
}

function uploadStatus(
  { MediaInfoList: list, NotExistJobIds: missing }: z.output<typeof mediaInfos>['Result']['Data'],
  id: string,
): JobStatus {
  if (missing?.includes(id) === true) {
    throw new UpstreamError('LOST', 'volcengine does not know this upload (any more)');
  }
  const upload = list?.find(({ JobId }) => JobId === id);
  switch (upload?.State) {
    case 'init':
      return { state: 'queued' };
    case 'success': {
      if (!upload.Vid) throw unreadable(new Error('no Vid'), 'a finished upload');
      return { state: 'finished', outcome: { files: [], texts: [], facts: { videoId: upload.Vid } } };
    }
    case 'fail': {
      const message = 'volcengine could not take the video: is its address within reach?';
      return { state: 'failed', error: new UpstreamError('UNAVAILABLE', message) };
    }
    default:
      return { state: 'running', progress: null, stage: 'uploading' };
  }
}

/** The account's space for videos. */
function readSpace({ credentials }: Connection): string {
  const { vodSpace } = credentials;
  if (vodSpace !== undefined && vodSpace !== '') return vodSpace;
  throw refusedCredentials('volcengine: there is no space for videos');
}

function read<Shape extends z.ZodType>(answer: ExchangeAnswer, shape: Shape): z.output<Shape> {
  const error = errorOfGateway(answer, gatewayMessage(answer));
  if (error !== undefined) throw error;
  const found = shape.safeParse(answer.json);
  if (found.success) return found.data;
  const message = gatewayMessage(answer);
  if (message === '') throw unreadable(found.error, 'an upload');
  throw new UpstreamError('UNAVAILABLE', `volcengine: ${message}`.slice(0, 400));
}
