import { createKiln, type KilnErrorCode } from '../../clients/typescript/src/index.ts';

/** What the compiler accepts and refuses; `npm run types` holds it. Nothing here runs. */
export async function typedCalls(): Promise<KilnErrorCode> {
  const kiln = createKiln({ url: 'http://127.0.0.1:4000' });
  const image = { generator: 'imga', prompt: 'a lighthouse' };
  await kiln.generate('image', { ...image, model: 'gpt-image-2', options: { moderation: 'low' } });
  // @ts-expect-error -- the model has no such value
  await kiln.generate('image', { ...image, model: 'gpt-image-2', options: { moderation: 'none' } });
  // @ts-expect-error -- the model has no such option
  await kiln.generate('image', { ...image, model: 'gpt-image-2', options: { cfg_scale: 0.5 } });
  await kiln.generate('video', {
    generator: 'vidc',
    prompt: 'waves',
    model: 'kling-v1-6',
    options: { cfg_scale: 0.5 },
  });
  await kiln.generate('image', { ...image, model: 'a-model-of-ours', options: { anything: true } });
  // @ts-expect-error -- an image needs a prompt
  await kiln.generate('image', { generator: 'imga' });
  // @ts-expect-error -- no such kind
  await kiln.generate('drawing', image);
  // @ts-expect-error -- speech has a voice
  await kiln.generate('speech', { generator: 'speech_router', text: 'hello' });
  const { result, state } = await kiln.result('...');
  // @ts-expect-error -- no such state
  if (state === 'DONE') return 'INTERNAL';
  if (result?.__typename === 'ClonedVoice' && result.voice.id === '') return 'START_UNKNOWN';
  // @ts-expect-error -- no such code
  return 'SOMETHING';
}
