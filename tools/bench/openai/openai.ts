import type { Bench, BenchTools, Figure } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';
import type { LoadRequest } from '../load/load.ts';
import { startProgram } from '../processes.ts';
import { formatFigures, measureInTurns, median, computeRatio, servedSubject } from '../rounds.ts';
import { startLitellm } from './litellm.ts';

/** Where LiteLLM's proxy is: `LITELLM=/path/to/litellm`, else what is on the PATH. */
const program = process.env['LITELLM'] ?? 'litellm';

const JSON_HEADERS = { 'content-type': 'application/json' };
const CHAT = JSON.stringify({
  model: 'gpt-4o-mini',
  stream: true,
  messages: [{ role: 'user', content: 'Where is the lighthouse?' }],
});

/** Who answers, and what is sent. */
interface Measured {
  readonly name: string;
  readonly pid: number;
  readonly request: Omit<LoadRequest, 'ms'>;
}

/** Kiln's OpenAI face beside LiteLLM's proxy, before the same upstream: streamed chats, and what is finished asked for again. */
export const openai: Bench = {
  name: 'openai',
  async run(tools) {
    const upstream = await startProgram<{ url: string }>(new URL('upstream.ts', import.meta.url));
    tools.lifecycle.add('upstream', () => upstream.stop());
    const litellm = await startLitellm(tools, { program, upstream: upstream.ready.url });
    if (litellm === null) {
      tools.say(
        `left out: ${program} is not there (pip install 'litellm[proxy]', then LITELLM=/path/to/litellm)`,
      );
      return [];
    }
    const kiln = await startBenchedKiln(tools, {
      REST_AUTH: 'open',
      OPENAI_API_KEY: 'sk-of-nobody',
      OPENAI_BASE_URL: `${upstream.ready.url}/v1`,
    });
    const chat = (url: string, headers = {}) => ({
      url: `${url}/v1/chat/completions`,
      method: 'POST' as const,
      headers: { ...JSON_HEADERS, ...headers },
      body: CHAT,
    });
    const chats = await sideBySide(tools, 'a streamed chat', [
      { name: 'Kiln', pid: kiln.pid, request: chat(kiln.url) },
      { name: 'LiteLLM', pid: litellm.pid, request: chat(litellm.url, litellm.headers) },
      { name: 'upstream', pid: upstream.pid, request: chat(upstream.ready.url) },
    ]);
    const image = await fetchImage(kiln.url);
    const video = await fetchVideo(litellm.url, litellm.headers);
    const finished = await sideBySide(tools, 'what is finished, asked for again', [
      { name: 'Kiln', pid: kiln.pid, request: { url: image } },
      { name: 'LiteLLM', pid: litellm.pid, request: { url: video, headers: litellm.headers } },
      { name: 'upstream', pid: upstream.pid, request: { url: `${upstream.ready.url}/v1/videos/video_1` } },
    ]);
    return [...chats, ...finished];
  },
};

/** Requests a second of 16 connections, then the time that one request at a time takes longer than at the upstream itself. */
async function sideBySide(
  tools: BenchTools,
  what: string,
  measured: readonly [Measured, Measured, Measured],
): Promise<readonly Figure[]> {
  const [ours, theirs] = measured;
  const subjects = [ours, theirs].map((one) => servedSubject(tools.load, one));
  const rounds = await measureInTurns(tools, subjects);
  const waits = await alone(tools, measured);
  const added = (name: string): string => `${((waits[name] ?? 0) - (waits['upstream'] ?? 0)).toFixed(1)} ms`;
  return [
    {
      what: `OpenAI's API: ${what}`,
      ours: `${formatFigures(rounds, 'Kiln')}, ${added('Kiln')} added`,
      baseline: `LiteLLM's proxy: ${formatFigures(rounds, 'LiteLLM')}, ${added('LiteLLM')} added`,
      ratio: { value: computeRatio(rounds, 'Kiln', 'LiteLLM'), target: 10 },
      note: 'one process each; Kiln keeps the reply, or answers from its own store',
    },
  ];
}

/** Milliseconds of a request by itself, by who answers. */
async function alone(
  { load, rounds, runMs }: BenchTools,
  measured: readonly Measured[],
): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, request } of measured) {
      const { perSecond } = await load.measure({ ...request, connections: 1, ms: runMs });
      (found[name] ??= []).push(1_000 / perSecond);
    }
  }
  return Object.fromEntries(Object.entries(found).map(([name, waits]) => [name, median(waits)]));
}

/** The address of a finished image. */
async function fetchImage(url: string): Promise<string> {
  const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a lighthouse', response_format: 'url' });
  const answer = await fetch(`${url}/v1/images/generations`, { method: 'POST', headers: JSON_HEADERS, body });
  if (!answer.ok) throw new Error(`no image: ${await answer.text()}`);
  return `${url}/v1/images/generations/${answer.headers.get('x-kiln-task')}?response_format=url`;
}

/** LiteLLM keeps no images: a finished video is the nearest that it can be asked for again. */
async function fetchVideo(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const body = JSON.stringify({ model: 'sora-2', prompt: 'the sea' });
  const init = { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body };
  const answer = await fetch(`${url}/v1/videos`, init);
  if (!answer.ok) throw new Error(`no video: ${await answer.text()}`);
  const { id } = (await answer.json()) as { readonly id: string };
  return `${url}/v1/videos/${encodeURIComponent(id)}`;
}
