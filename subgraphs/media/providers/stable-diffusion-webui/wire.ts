import { z } from 'zod';

import { UpstreamError } from '../../domain/failure.ts';
import type { RemoteFile } from '../contract/provider.ts';
import { throwStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { createReader, listOf, number, parseDetail, text } from '../shared/reader.ts';

/** The bodies of the web UI's API, parsed leniently. */

const { read } = createReader('stable-diffusion-webui');

const imageList = z.object({ images: listOf(z.string().min(1)).nullish() });
const checkpoints = listOf(z.object({ title: z.string().min(1), model_name: text, hash: text }));
const exception = z.object({ error: z.string().min(1), detail: z.unknown().optional(), errors: text });
const task = z.object({
  active: z.boolean().catch(false),
  progress: number,
});
const overall = z.object({ progress: number });

/** How far a task is: 0 to 1, or null when the server does not say. */
export interface TaskProgress {
  /** Whether it is the one that is worked on now. */
  readonly isActive: boolean;
  readonly progress: number | null;
}

/** The wire's field names and ours. */
const FIELDS: Readonly<Record<string, string>> = {
  negative_prompt: 'negativePrompt',
  init_images: 'images',
  width: 'resolution',
  height: 'resolution',
  n_iter: 'count',
};

/**
 * Throws the server's error; returns for a success. An exception in its own words ended the work, so that the start is
 * known; what it refuses by itself (`HTTPException`) is an input's fault.
 */
export function throwRefusal(answer: ExchangeAnswer): void {
  const { status, json } = answer;
  if (status < 400) return;
  const thrown = exception.safeParse(json).data;
  const { message: detail, field } = parseDetail(json);
  const reason = detail || thrown?.errors || `HTTP ${status}`;
  const message = `stable-diffusion-webui: ${withoutPaths(reason)}`.slice(0, 400);
  if (status === 404 && thrown === undefined) {
    throw new UpstreamError('UNAVAILABLE', `${message} (was the server started with --api?)`);
  }
  if (status === 422 && field !== null) {
    throw new UpstreamError('INVALID_INPUT', message, { field: FIELDS[field] ?? field });
  }
  if (thrown !== undefined && ![401, 403, 429].includes(status)) {
    throw new UpstreamError(thrown.error === 'HTTPException' ? 'INVALID_INPUT' : 'UNAVAILABLE', message);
  }
  throwStatus(answer, { message, isAboutWork: false });
}

/** The words of an exception without paths of the server's machine. */
function withoutPaths(reason: string): string {
  return reason.replaceAll(/(?:[A-Za-z]:)?(?:[\\/][^\s\\/:'"]+){2,}/g, '[path]');
}

/** The images of an answer, at most so many: extensions add others behind them. */
export function imageFiles(answer: ExchangeAnswer, count: number): RemoteFile[] {
  const { images } = read(imageList, answer, 'images');
  if (images === null || images === undefined || images.length === 0) {
    throw new UpstreamError('UNAVAILABLE', 'stable-diffusion-webui made no image: it was interrupted');
  }
  return images.slice(0, count).map((image) => ({
    content: Buffer.from(image.replace(/^data:[^,]*,/, ''), 'base64'),
    contentType: 'image/png',
  }));
}

/** The title of a checkpoint by its title, name, file or hash; null when the server does not have it. */
export function findTitle(answer: ExchangeAnswer, model: string): string | null {
  const found = read(checkpoints, answer, 'its checkpoints').find(({ title, model_name: name, hash }) =>
    [title, name, hash, title.replace(/ \[\w+\]$/, '')].includes(model),
  );
  return found?.title ?? null;
}

/** What the page's own API says of a task. */
export function taskProgress(answer: ExchangeAnswer): TaskProgress {
  const { active, progress } = read(task, answer, 'the progress of a task');
  return { isActive: active, progress: progress ?? null };
}

/** What the server does now, whosever it is. */
export function overallProgress(answer: ExchangeAnswer): TaskProgress {
  const { progress } = read(overall, answer, 'its progress');
  return { isActive: (progress ?? 0) > 0, progress: progress ?? null };
}
