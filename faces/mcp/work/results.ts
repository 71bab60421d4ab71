import type { CallToolResult } from '@modelcontextprotocol/server';

import type { McpOutput, McpTask } from './documents.ts';

/**
 * What a task has made, small enough for a context window: links to the files and thumbnails, never the files. Clients cut
 * results at some 25,000 tokens.
 */

/** Reads a file of ours by its address; null where it can't be had, or is larger. */
export type ReadFile = (url: string, maxBytes: number) => Promise<FileBytes | null>;

/** The bytes of a file. */
interface FileBytes {
  readonly bytes: Buffer;
  readonly contentType: string;
}

type Content = CallToolResult['content'][number];

/** Largest thumbnail, and all thumbnails of one result, in bytes. */
const THUMBNAIL_BYTES = 16 * 1024;
const THUMBNAILS_BYTES = 32 * 1024;
const MAX_TEXT = 20_000;

/** The result of a call whose task has ended. */
export async function toResult(task: McpTask, readFile: ReadFile): Promise<CallToolResult> {
  const structuredContent = toFacts(task);
  if (task.state !== 'SUCCEEDED') {
    return { content: [{ type: 'text', text: failureText(task) }], structuredContent, isError: true };
  }
  return {
    content: [
      { type: 'text', text: summarize(task) },
      ...listTexts(task).map((text): Content => ({ type: 'text', text: shortened(text) })),
      ...task.outputs.map(linkTo),
      ...(await readThumbnails(task.outputs, readFile)),
    ],
    structuredContent,
  };
}

/** The result of a call whose task goes on: how to find it again. */
export function runningResult(task: McpTask): CallToolResult {
  const { id, stage, progress } = task;
  const text = `Task ${id} is at work (${stage}, ${progress} %)${costText(task)}. It goes on by itself: call wait_for_task with this task_id for its result.`;
  return { content: [{ type: 'text', text }], structuredContent: toFacts(task) };
}

/** A task for programs. */
export function toFacts(task: McpTask) {
  const { id, kind, generator, model, state, stage, progress, error, cost, notes } = task;
  return {
    task_id: id,
    state,
    kind,
    generator,
    model,
    stage,
    progress,
    created_at: task.createdAt,
    ended_at: task.endedAt,
    outputs: task.outputs.map((output) => ({
      media_id: output.id,
      uri: output.url,
      mime_type: output.contentType,
      bytes: output.bytes,
      width: output.width,
      height: output.height,
      duration: output.duration,
    })),
    texts: listTexts(task).map(shortened),
    notes,
    cost,
    error,
  };
}

/** A file as a link. */
export function linkTo({ url, name, contentType, bytes, ...facts }: LinkedFile): Content {
  return {
    type: 'resource_link',
    uri: url,
    name,
    mimeType: contentType,
    size: bytes,
    description: describeFile(facts),
  };
}

/** What is said of a file. */
type LinkedFile = Pick<
  McpOutput,
  'id' | 'url' | 'name' | 'contentType' | 'bytes' | 'width' | 'height' | 'duration'
>;

function describeFile({ id, width, height, duration }: Omit<LinkedFile, 'url' | 'name'> | Facts): string {
  const size = width === null || height === null ? null : `${width}x${height}`;
  const length = duration === null ? null : `${duration} s`;
  return [size, length, `media id ${id}`].filter((part) => part !== null).join(', ');
}

type Facts = Pick<McpOutput, 'id' | 'width' | 'height' | 'duration'>;

async function readThumbnails(
  outputs: readonly McpOutput[],
  readFile: ReadFile,
): Promise<readonly Content[]> {
  const contents: Content[] = [];
  let left = THUMBNAILS_BYTES;
  for (const { thumbnail, contentType } of outputs) {
    const isSeen = contentType.startsWith('image/') || contentType.startsWith('video/');
    if (thumbnail === null || !isSeen || left <= 0) continue;
    const file = await readFile(thumbnail, Math.min(left, THUMBNAIL_BYTES));
    if (file === null) continue;
    left -= file.bytes.length;
    contents.push({ type: 'image', data: file.bytes.toString('base64'), mimeType: file.contentType });
  }
  return contents;
}

function summarize(task: McpTask): string {
  const { id, outputs, model, generator, notes } = task;
  const made = outputs.length === 0 ? 'finished' : `made ${outputs.length} file(s)`;
  const by = [generator, model].filter((name) => name !== null).join(':');
  return [`Task ${id} ${made} with ${by}${costText(task)}.`, ...notes].join('\n');
}

function failureText({ id, state, error }: McpTask): string {
  if (state === 'CANCELLED') return `Task ${id} was cancelled.`;
  const again = error?.retryable === true ? 'The same call may succeed later.' : 'Change the call first.';
  return `Task ${id} failed: ${error?.code ?? 'INTERNAL'}: ${error?.message ?? 'unknown'}. ${again}`;
}

/** Texts that a task has made, prompts that describe an image among them. */
function listTexts({ texts, result }: McpTask): readonly string[] {
  const prompts = result !== null && 'prompts' in result ? result.prompts : [];
  return texts.length > 0 ? texts : prompts;
}

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)} [shortened]`;
}

/** What it costs, or is expected to. */
function costText({ cost }: McpTask): string {
  if (cost === null) return '';
  const { amount, currency, estimated } = cost;
  if (amount === null) return '; its cost is not known';
  return `; it ${estimated ? 'is expected to cost' : 'cost'} ${amount} ${currency ?? ''}`.trimEnd();
}
