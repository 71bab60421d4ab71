/** Models that the stand-ins have, by the path that works with them; the last one is none. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  images: ['gpt-image-2', 'gpt-image-2', 'midjourney', 'fal-ai/flux/schnell', 'no-such-model'],
  videos: ['MiniMax-Hailuo-02', 'kling-v2-5-turbo', 'no-such-model'],
  speech: ['speech-2.8-turbo', 'gpt-4o-mini-tts', 'no-such-model'],
  transcriptions: ['gemini-3.8-flash', 'no-such-model'],
  completions: ['gpt-4o-mini', 'gpt-6-luna', 'gemini-3.8-flash', 'no-such-model'],
};

/** The models to name at a path; none where it takes no model. */
export function findModels(path: string): readonly string[] {
  const parts = path.split('/');
  return Object.entries(MODELS).find(([name]) => parts.includes(name))?.[1] ?? [];
}
