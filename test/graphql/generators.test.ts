import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { rest, until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphqlClient } from './graphql-client.ts';

/** Videos, speech, voices, graphs and analyses over a live server's GraphQL face, at the stand-ins of their wires. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln();
  asking = graphqlClient(kiln.url);
  await kiln.control('latency', { queuedMs: 0, runningMs: 200 });
});
afterAll(() => kiln.close());

const SPEAK = 'mutation ($input: SpeechInput!) { synthesizeSpeech(input: $input) { id kind generator } }';

async function speak(input: object) {
  const { synthesizeSpeech } = await asking.ok(SPEAK, {
    input: { generator: 'agg/speech_router', ...input },
  });
  expect(synthesizeSpeech).toMatchObject({ kind: 'SPEECH', generator: 'agg/speech_router' });
  return asking.ended(synthesizeSpeech.id as string);
}

async function readBytes(url: string) {
  return new Uint8Array(await (await fetch(url)).arrayBuffer());
}

/** The typed result of a task. */
async function readResult(id: string) {
  const query = `query ($id: ID!) { task(id: $id) { text result { __typename
    ... on ClonedVoice { voice { id name cloned } demo { contentType duration } }
    ... on Analysis { model provider usage { inputTokens outputTokens } } } } }`;
  return (await asking.ok(query, { id })).task;
}

describe('a video', () => {
  it('is made by every generator of videos, from words or from an image', async () => {
    const query = 'mutation ($input: VideoInput!) { generateVideo(input: $input) { id kind } }';
    const uploaded = await asking.upload(
      PIXEL,
      'a.png',
      'mutation ($file: Upload!) { uploadFile(file: $file) { url } }',
    );
    const image = { url: uploaded.data.uploadFile.url as string };
    const inputs = [
      { generator: 'vidb' },
      { generator: 'agg/vidb', image, aspectRatio: '16:9' },
      { generator: 'agg/vidc' },
      { generator: 'agg/vidc', image },
    ];
    // All at once: each waits for its upstream most of the time.
    const tasks = await Promise.all(
      inputs.map(async (input) => {
        const { generateVideo } = await asking.ok(query, { input: { prompt: 'a red fox', ...input } });
        return asking.ended(generateVideo.id as string);
      }),
    );
    for (const task of tasks) {
      expect(task).toMatchObject({ error: null, kind: 'VIDEO', outputs: [{ contentType: 'video/mp4' }] });
      expect(task.outputs[0].duration).toBeGreaterThan(0);
      expect(task.outputs[0].width).toBeGreaterThan(0);
    }
    expect(tasks[1].noteInfos).toEqual([
      {
        code: 'SHAPE_OF_PICTURE',
        text: tasks[1].notes[0],
        aspectRatio: '16:9',
        size: null,
        usedAspectRatio: null,
      },
    ]);
  });

  it('is refused for what no model of the generator takes', async () => {
    const query =
      'mutation { generateVideo(input: { generator: "agg/vidb", prompt: "x", duration: 999 }) { id } }';
    expect(await asking.refusal(query)).toMatchObject({ code: 'BAD_USER_INPUT', field: 'duration' });
  });
});

describe('an image that waits at fal', () => {
  it('says its place in the line there, over REST too, and moves up', async () => {
    await kiln.control('latency', { wire: 'fal', queuedMs: 600_000 });
    const query = `mutation { generateImage(input: { generator: "custom", model: "fal-ai/flux/schnell", prompt: "a fox" }) {
      id } }`;
    const wait = async () => (await asking.ok(query)).generateImage.id as string;
    const placeIs = (id: string, place: number) =>
      until(
        () => asking.ok(`{ task(id: "${id}") { stageInfo { code upstreamPosition } } }`),
        ({ task }) => task.stageInfo.upstreamPosition === place,
      );
    const cancel = (id: string) => asking.ok(`mutation { cancelTask(id: "${id}") { state } }`);
    const first = await wait();
    await placeIs(first, 1);
    const second = await wait();
    expect((await placeIs(second, 2)).task.stageInfo.code).toBe('QUEUED_UPSTREAM');
    const told = { stage: 'queued upstream, position 2', queue_position: null };
    expect((await rest(kiln.url, 'GET', `/api/task/status/${second}`)).body).toMatchObject({
      status: 'running',
      data: told,
      msg: told.stage,
    });
    await cancel(first);
    await placeIs(second, 1);
    await cancel(second);
  });
});

describe('speech', () => {
  it('is kept in formats without loss, samples without a header too', async () => {
    const spoken = await Promise.all(
      ['flac', 'pcm'].map((format) => speak({ text: 'Hi.', voiceId: 'English_Graceful_Lady', format })),
    );
    expect(spoken).toMatchObject([
      {
        error: null,
        outputs: [{ contentType: 'audio/flac', url: expect.stringMatching(/\.flac$/) as string }],
      },
      {
        error: null,
        outputs: [{ contentType: 'audio/pcm', url: expect.stringMatching(/\.pcm$/) as string }],
      },
    ]);
  });

  it('is spoken in a voice of the list', async () => {
    const { voices, providerVoices } = await asking.ok(
      '{ voices(generator: "agg/speech_router") { id name language cloned } providerVoices(generator: "agg/speech_router") }',
    );
    expect(voices.length).toBeGreaterThan(0);
    // Everybody's voices are in it: it is for administrators.
    expect(providerVoices).toEqual({});
    const task = await speak({ text: 'Hello there, this is a lighthouse.', voiceId: voices[0].id as string });
    expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [{ contentType: 'audio/mpeg' }] });
    expect(task.outputs[0].duration).toBeGreaterThan(0);
  });

  it('is spoken in a voice cloned from a sample that the provider has', async () => {
    const { voices } = await asking.ok('{ voices(generator: "agg/speech_router") { id } }');
    const spoken = await speak({
      text: 'This is what I sound like, for long enough.',
      voiceId: voices[0].id as string,
    });
    const sample = await asking.upload(
      await readBytes(spoken.outputs[0].url as string),
      'me.mp3',
      'mutation ($file: Upload!) { uploadVoiceSample(generator: "agg/speech_router", file: $file) { id uri extra media { contentType } } }',
    );
    expect(sample.errors).toBeUndefined();
    expect(sample.data.uploadVoiceSample).toMatchObject({ media: { contentType: 'audio/mpeg' } });
    const { cloneVoice } = await asking.ok(
      'mutation ($input: VoiceCloneInput!) { cloneVoice(input: $input) { id } }',
      {
        input: {
          generator: 'agg/speech_router',
          sample: { fileId: sample.data.uploadVoiceSample.id as string },
          voiceId: 'KilnTestVoice01',
          text: 'This is my demo.',
        },
      },
    );
    expect(await asking.ended(cloneVoice.id as string)).toMatchObject({ state: 'SUCCEEDED', error: null });
    expect((await readResult(cloneVoice.id as string)).result).toMatchObject({
      __typename: 'ClonedVoice',
      voice: { id: 'KilnTestVoice01', cloned: true },
      demo: { contentType: 'audio/mpeg' },
    });
    expect(await speak({ text: 'And now I speak.', voiceId: 'KilnTestVoice01' })).toMatchObject({
      state: 'SUCCEEDED',
    });
  });
});

it('an upload for lip-sync is refused unless its bytes are of a type that was asked for', async () => {
  const refusals = ['["image/*"]', '["audio/*"]', '["image/jpeg", "video/mp4"]', '["image/png"]'].map(
    async (only) => {
      const field = `uploadLipSyncResource(generator: "agg/lipsync", only: ${only}, file: $file)`;
      const answer = await asking.upload(PIXEL, 'a.mp3', `mutation ($file: Upload!) { ${field} { id } }`);
      return answer.errors?.[0]?.message ?? null;
    },
  );
  expect(await Promise.all(refusals)).toEqual([
    null,
    'file: wrong file format, send audio/*; this is image/png',
    'file: wrong file format, send image/jpeg or video/mp4; this is image/png',
    null,
  ]);
});

describe('an analysis', () => {
  it('says what is in an image that the provider was handed before, named by id and by address', async () => {
    const uploaded = await asking.upload(
      PIXEL,
      'a.png',
      'mutation ($file: Upload!) { uploadToProvider(generator: "llm/altllm", file: $file) { id uri extra media { url } } }',
    );
    expect(uploaded.errors).toBeUndefined();
    const { id, uri, extra } = uploaded.data.uploadToProvider;
    expect(extra).not.toBeNull();
    const query = 'mutation ($input: AnalysisInput!) { analyzeMedia(input: $input) { id kind } }';
    for (const media of [{ fileId: id as string }, { url: uri as string }]) {
      const input = { generator: 'llm/altllm', media, prompt: 'What is this?' };
      const { analyzeMedia } = await asking.ok(query, { input });
      expect(await asking.ended(analyzeMedia.id as string)).toMatchObject({ error: null, kind: 'ANALYSIS' });
      const { text, result } = await readResult(analyzeMedia.id as string);
      expect(text).not.toBe('');
      expect(result).toMatchObject({ __typename: 'Analysis', provider: 'gemini' });
      expect(result.usage.inputTokens).toBeGreaterThan(0);
    }
  });

  it('takes no uploads for a generator whose provider keeps none, nor of files it could not look at', async () => {
    const to = (generator: string) =>
      `mutation ($file: Upload!) { uploadToProvider(generator: "${generator}", file: $file) { id } }`;
    const refusals = await Promise.all([
      asking.upload(PIXEL, 'a.png', to('imga')),
      asking.upload(new Uint8Array(Buffer.from('just words')), 'a.txt', to('llm/altllm')),
    ]);
    const extensions = refusals.map(({ errors }) => errors?.[0]?.extensions);
    expect(extensions).toEqual([
      { code: 'BAD_USER_INPUT', field: 'generator' },
      { code: 'BAD_USER_INPUT', field: 'file' },
    ]);
  });

  it('can be a chat about a recording, too', async () => {
    const { voices } = await asking.ok('{ voices(generator: "agg/speech_router") { id } }');
    const spoken = await speak({ text: 'Ships ahoy.', voiceId: voices[0].id as string });
    const media = { type: 'media', media: { fileId: spoken.outputs[0].id as string } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'What do you hear?' }, media] }];
    const { chat } = await asking.ok(
      'mutation ($input: ChatInput!) { chat(input: $input) { text provider } }',
      {
        input: { generator: 'llm/altllm', messages },
      },
    );
    expect(chat).toMatchObject({ provider: 'gemini' });
    expect(chat.text).not.toBe('');
  });
});

describe('a comfy workflow', () => {
  const RUN = 'mutation ($input: ComfyWorkflowInput!) { runComfyWorkflow(input: $input) { id kind } }';
  const run = async (input: object) => {
    const { runComfyWorkflow } = await asking.ok(RUN, { input });
    return asking.ended(runComfyWorkflow.id as string);
  };

  it('is run by its name, on the machine that has room, and its result goes into the next one', async () => {
    const { runningNode } = await asking.ok('{ runningNode { node queueRunning queuePending capacity } }');
    expect(runningNode.capacity).toBeGreaterThan(0);
    expect((await asking.ok('{ runningNode(taskCount: 100000) { node } }')).runningNode).toBeNull();
    const inputs = { prompt: 'a red fox', width: 128, height: 64, count: 2 };
    const first = await run({ workflowName: 'text-to-image', inputs, node: runningNode.node as string });
    expect(first).toMatchObject({ error: null, kind: 'COMFY_WORKFLOW', outputs: [{}, {}] });
    const image = first.outputs[0].url as string;
    const others = await Promise.all([
      run({ workflowName: 'image-to-image', inputs: { image, prompt: 'a blue fox' } }),
      run({ workflowName: 'image-resize', inputs: { image, width: 32, height: 48 } }),
    ]);
    for (const task of others)
      expect(task).toMatchObject({ error: null, outputs: [{ contentType: 'image/png' }] });
  });

  it('is refused with the node and its class when no machine has it, and when it is named or filled in twice', async () => {
    const workflow = {
      1: { class_type: 'LoadImage', inputs: { image: 'a.png' } },
      2: { class_type: 'NoSuchNode', inputs: { images: ['1', 0] } },
    };
    expect(await asking.refusal(RUN, { input: { workflow } })).toMatchObject({
      code: 'NOT_INSTALLED',
      field: 'workflow.2.class_type',
      message: expect.stringMatching(/NoSuchNode/) as string,
    });
    const broken = { workflow: { 7: { inputs: {} } } };
    expect(await asking.refusal(RUN, { input: broken })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'workflow.7.class_type',
    });
    const named = { workflowName: 'text-to-image', inputs: { prompt: 'a' } };
    const twice = [
      ['options', { ...named, options: { prompt: 'b' } }],
      ['workflow', { ...named, model: 'text-to-image' }],
    ] as const;
    for (const [field, input] of twice)
      expect(await asking.refusal(RUN, { input })).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });
});

const PIXEL = new Uint8Array(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
);
