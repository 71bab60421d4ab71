import { randomInt } from 'node:crypto';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest, type WireRoute } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import { parseImageDataUrl, readText } from '../shared/inputs.ts';
import { storeInputs } from '../shared/perform.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { invalidParameter, parsePrompt } from './prompt.ts';
import { CODE, submitResult } from './task-json.ts';

/** The ways to start a job on this wire. */
export interface Submissions {
  readonly video: WireRoute['handle'];
  readonly imagine: WireRoute['handle'];
  readonly describe: WireRoute['handle'];
  readonly change: WireRoute['handle'];
}

export interface SubmissionsOptions {
  readonly runner: JobRunner;
  readonly journal: Journal;
}

const MAX_IMAGES = 5;

/** Creates the submission handlers. */
export function createSubmissions(options: SubmissionsOptions): Submissions {
  return {
    imagine: async (request, fault) => {
      const body = jsonObject(request);
      const prompt = body?.['prompt'];
      if (body === null || typeof prompt !== 'string' || prompt.trim() === '') {
        return submitResult(CODE.validation, 'prompt不能为空');
      }
      const refusal = findRefusal(prompt, fault);
      if (refusal !== null) return refusal;
      const images = dataUrls(body['base64Array']);
      if (images === null) return submitResult(CODE.validation, 'base64Array格式错误');
      const description = `/imagine ${prompt}`;
      return start(options, { operation: 'imagine', request, body, fault, images, prompt, description });
    },
    describe: async (request, fault) => {
      const body = jsonObject(request);
      const image = parseImageDataUrl(body?.['base64']);
      if (body === null || image === null) return submitResult(CODE.validation, 'base64格式错误');
      if (fault?.fault === 'moderation') return banned('', 'nsfw-test-banned');
      const images = [image.bytes];
      return start(options, {
        operation: 'describe',
        request,
        body,
        fault,
        images,
        description: '/describe',
      });
    },
    video: async (request, fault) => video(options, request, fault),
    change: async (request, fault) => change(options, request, fault),
  };
}

/** A video of a prompt and usually a first frame; extending videos is not supported. */
async function video(
  options: SubmissionsOptions,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const body = jsonObject(request);
  const prompt = body?.['prompt'];
  if (body === null || typeof prompt !== 'string' || prompt.trim() === '') {
    return submitResult(CODE.validation, 'Prompt 不能为空');
  }
  if (readText(body['taskId']) !== null) return submitResult(CODE.validation, '任务类型错误');
  const refusal = findRefusal(prompt, fault);
  if (refusal !== null) return refusal;
  const [first, last] = [dataUrls(body['image']), dataUrls(body['endImage'])];
  if (first === null || last === null) return submitResult(CODE.validation, 'base64格式错误');
  const more = { hasFirstFrame: first.length > 0, isHd: body['videoType'] === 'vid_1.1_i2v_720' };
  const images = [...first, ...last];
  const description = `/video ${prompt}`;
  return start(options, { operation: 'video', request, body, fault, images, prompt, description, more });
}

function findRefusal(prompt: string, fault: Fault | null): Answer | null {
  const word = fault?.fault === 'moderation' ? 'nsfw-test-banned' : findBannedWord(prompt);
  if (word !== null) return banned(prompt, word);
  const invalid = invalidParameter(parsePrompt(prompt));
  return invalid === null ? null : submitResult(CODE.validation, invalid);
}

function banned(prompt: string, bannedWord: string): Answer {
  const properties = { promptEn: prompt, bannedWord };
  return submitResult(CODE.bannedPrompt, '可能包含敏感词', { properties });
}

/** Null when one of them is no image. */
function dataUrls(value: unknown): Buffer[] | null {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return dataUrls([value]);
  if (!Array.isArray(value) || value.length > MAX_IMAGES) return null;
  const images = value.map((item) => parseImageDataUrl(item)?.bytes);
  return images.includes(undefined) ? null : (images as Buffer[]);
}

interface Start {
  readonly operation: string;
  readonly request: WireRequest;
  readonly body: Record<string, unknown>;
  readonly fault: Fault | null;
  readonly images: readonly Buffer[];
  readonly prompt?: string;
  readonly description: string;
  readonly more?: JsonObject;
}

/** Accepts a job, unless the queue is full. Its start counts from here on, even if the answer is lost. */
async function start({ runner, journal }: SubmissionsOptions, begun: Start): Promise<Answer> {
  const ahead = runner.queueLength();
  const id = newTaskId();
  const full = () => submitResult(CODE.queueRejected, '队列已满，请稍后尝试');
  if (begun.fault?.fault === 'queue-full') return full();
  const input: JsonObject = {
    prompt: begun.prompt ?? null,
    description: begun.description,
    speed: begun.request.params['speed'] ?? 'fast',
    notifyHook: readText(begun.body['notifyHook']),
    pictures: await storeInputs(journal, id, begun.images),
    ...begun.more,
  };
  const reference = readText(begun.body['state']);
  const jobFault = toJobFault(begun.fault);
  const job = await runner.submit({ id, operation: begun.operation, reference, input, fault: jobFault });
  if (job === null) return full();
  if (ahead === 0) return submitResult(CODE.success, '提交成功', { result: id });
  const properties = { numberOfQueues: ahead };
  return submitResult(CODE.inQueue, `排队中，前面还有${ahead}个任务`, { result: id, properties });
}

/** UPSCALE, VARIATION, REROLL of a finished image; the same upscale again is "exists". */
async function change(
  options: SubmissionsOptions,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const body = jsonObject(request) ?? {};
  const { taskId, action, index } = body;
  if (typeof taskId !== 'string' || taskId === '') return submitResult(CODE.validation, 'taskId不能为空');
  if (action !== 'UPSCALE' && action !== 'VARIATION' && action !== 'REROLL') {
    return submitResult(CODE.validation, 'action参数错误');
  }
  const place = action === 'REROLL' ? 0 : Number(index);
  if (![0, 1, 2, 3, 4].includes(place)) return submitResult(CODE.validation, 'index参数错误');
  const target = options.runner.get(taskId);
  if (target === null) return submitResult(CODE.notFound, '关联任务不存在或已失效');
  if (target.state !== 'finished') return submitResult(CODE.validation, '关联任务状态错误');
  const description = `/up ${taskId} ${action === 'REROLL' ? 'R' : `${action.charAt(0)}${place}`}`;
  const existing = options.runner.list().find((job) => job.input['description'] === description);
  if (action === 'UPSCALE' && existing !== undefined) {
    return submitResult(CODE.existed, '任务已存在', { result: existing.id });
  }
  const prompt = readText(target.input['prompt']) ?? '';
  const more = { variation: place, related: taskId };
  const operation = action.toLowerCase();
  return start(options, { operation, request, body, fault, images: [], prompt, description, more });
}

function newTaskId(): string {
  const half = () => String(randomInt(100_000_000)).padStart(8, '0');
  return `1${half().slice(1)}${half()}`;
}
