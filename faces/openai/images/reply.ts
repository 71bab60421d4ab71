import { isEnded } from '../../../rest-compat/replies/task.ts';
import { endWords } from '../answers/failures.ts';
import { encodeFile, fileMark, jsonWithFiles, openFile } from '../answers/files.ts';
import type { FaceTask } from '../documents/task.ts';
import { type FaceAnswer, type FaceCall, type FaceEvent, toSeconds } from '../table/route.ts';

/** How images are answered. */

/** How the bytes of an image come: within the JSON, or by their address. */
export type ImageFormat = 'b64_json' | 'url';

/** Seconds after which a caller may ask again. */
const ASK_AGAIN = '2';

/** The answer about a task of images: the images, or 202 and where to ask while it goes on. */
export async function imageAnswer(call: FaceCall, task: FaceTask, format: ImageFormat): Promise<FaceAnswer> {
  if (!isEnded(task)) return goingOn(call, task);
  if (task.state !== 'SUCCEEDED') {
    const { status: _, ...error } = endWords(task);
    return { body: { ...toFacts(task), error } };
  }
  const urls = task.outputs.map(({ url }) => url);
  const data = urls.map((url, index) => (format === 'url' ? { url } : { b64_json: fileMark(index) }));
  const usage = toUsage(task);
  const body = {
    created: toSeconds(task.endedAt ?? task.createdAt),
    ...toFormat(task),
    data,
    ...(usage !== null && { usage }),
  };
  if (format === 'url') return { body };
  return {
    contentType: 'application/json; charset=utf-8',
    stream: await jsonWithFiles(call, { body, urls }),
  };
}

/** 202 with where to ask, which is no failure: the work goes on. */
function goingOn({ settings }: FaceCall, task: FaceTask): FaceAnswer {
  const location = `${settings.publicUrl}${settings.prefix}/images/generations/${task.id}`;
  return {
    status: 202,
    headers: { Location: location, 'Retry-After': ASK_AGAIN },
    body: { created: toSeconds(task.createdAt), data: [], ...toFacts(task) },
  };
}

function toFacts(task: FaceTask): object {
  const { id, state, progress, createdAt } = task;
  const words = {
    QUEUED: 'queued',
    RUNNING: 'in_progress',
    SUCCEEDED: 'completed',
    FAILED: 'failed',
    CANCELLED: 'cancelled',
  };
  return { id, object: 'image.generation', status: words[state], progress, created_at: toSeconds(createdAt) };
}

/** The images of a task as events, parts as they come and then whole ones: `image_generation` or `image_edit`. */
export async function* imageEvents(
  call: FaceCall,
  kind: 'image_generation' | 'image_edit',
  end: (show: (preview: string) => void) => Promise<FaceTask>,
): AsyncGenerator<FaceEvent> {
  const previews: string[] = [];
  let wake = (): void => undefined;
  const ending = end((url) => {
    previews.push(url);
    wake();
  });
  const isOver = ending.then(
    () => true,
    () => true,
  );
  for (let index = 0, over = false; !over || previews.length > 0;) {
    const url = previews.shift();
    if (url !== undefined) yield await readPart(call, kind, { url, index: index++ });
    else over = await Promise.race([isOver, new Promise<false>((resolve) => (wake = () => resolve(false)))]);
  }
  const task = await ending;
  for (const { url } of task.outputs) {
    const text = await readBase64(call, url);
    const name = `${kind}.completed`;
    const created = toSeconds(task.endedAt ?? task.createdAt);
    yield {
      name,
      data: {
        type: name,
        b64_json: text,
        created_at: created,
        ...UNSAID,
        ...toFormat(task),
        // Clients of streams rely on it: what counts no tokens takes none.
        usage: toUsage(task) ?? usageIn({ inputTokens: 0, outputTokens: 0 }),
      },
    };
  }
}

async function readPart(
  call: FaceCall,
  kind: string,
  { url, index }: { readonly url: string; readonly index: number },
): Promise<FaceEvent> {
  const name = `${kind}.partial_image`;
  const b64_json = await readBase64(call, url);
  const created_at = Math.floor(Date.now() / 1_000);
  return { name, data: { type: name, b64_json, partial_image_index: index, created_at, ...UNSAID } };
}

async function readBase64(call: FaceCall, url: string): Promise<string> {
  let text = '';
  for await (const piece of encodeFile(await openFile(call, url))) text += piece;
  return text;
}

/** What events always say; `auto` where it is not known, as in a request. */
const UNSAID = { size: 'auto', quality: 'auto', background: 'auto', output_format: 'png' };

const SIZES = ['1024x1024', '1024x1536', '1536x1024'];
const FORMATS = ['png', 'webp', 'jpeg'];

/** What OpenAI says of the images, where it has words for it. */
function toFormat({ outputs, input }: FaceTask): object {
  const [image] = outputs;
  const size = `${image?.width}x${image?.height}`;
  const format = image?.contentType.replace('image/', '') ?? '';
  const { quality, background } = Object(input?.options) as Readonly<Record<string, unknown>>;
  return {
    ...(SIZES.includes(size) && { size }),
    ...(FORMATS.includes(format) && { output_format: format }),
    ...(['low', 'medium', 'high'].includes(String(quality)) && { quality }),
    ...(['transparent', 'opaque'].includes(String(background)) && { background }),
  };
}

/** Tokens, where the provider counts them. */
function toUsage({ cost }: FaceTask): object | null {
  const { inputTokens, outputTokens } = cost?.units ?? {};
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return null;
  return usageIn({ inputTokens, outputTokens });
}

function usageIn(tokens: { readonly inputTokens: number; readonly outputTokens: number }): object {
  const { inputTokens, outputTokens } = tokens;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_details: { text_tokens: inputTokens, image_tokens: 0 },
  };
}
