import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model, VIDEO_INPUTS } from './model.ts';

/** MiniMax: Hailuo's videos, and speech. */
export const minimax: readonly ModelLimits[] = [
  ...minimaxVideos(),
  ...['speech-2.8-hd', 'speech-2.8-turbo', 'speech-02-hd'].map((id) =>
    model(id, `MiniMax ${id}`, {
      category: 'speech',
      kinds: ['SPEECH', 'VOICE_CLONE'],
      inputs: ['text', 'voiceId', 'speed', 'pitch', 'volume', 'emotion', 'format', 'sample', 'name'],
      formats: ['mp3', 'wav', 'flac', 'pcm'],
      ranges: { speed: [0.5, 2], pitch: [-12, 12], volume: [0.01, 10] },
      maxPrompt: 10_000,
    }),
  ),
];

function minimaxVideos(): readonly ModelLimits[] {
  const common = {
    category: 'video',
    kinds: ['VIDEO'],
    // Without a first frame the wire makes 16:9; with one, the shape of the frame.
    aspectRatios: ['16:9'],
    durations: [6, 10],
    maxPrompt: 2_000,
  };
  return [
    model('MiniMax-Hailuo-02', 'Hailuo 02', {
      ...common,
      kinds: ['VIDEO', 'FRAME_VIDEO'],
      inputs: [...VIDEO_INPUTS, 'lastFrame'],
      sizes: ['512P', '768P', '1080P'],
    }),
    model('MiniMax-Hailuo-2.3', 'Hailuo 2.3', { ...common, inputs: VIDEO_INPUTS, sizes: ['768P', '1080P'] }),
  ];
}
