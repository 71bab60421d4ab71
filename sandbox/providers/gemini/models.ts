import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject } from '../../http/wire.ts';
import type { WireRequest } from '../../http/wire.ts';
import { countTokens } from '../shared/rules/reply.ts';
import { invalid } from './errors.ts';
import { noModel, describeIssue } from './generate.ts';
import { generateRequest, textIn } from './request.ts';

const METHODS: Readonly<Record<string, readonly string[]>> = {
  'gemini-3.5-flash-lite': ['generateContent', 'countTokens'],
  'gemini-3.8-flash': ['generateContent', 'countTokens'],
  'gemini-3.1-flash-image': ['generateContent', 'countTokens'],
  'gemini-3.8-flash-tts': ['generateContent', 'countTokens'],
  'gemini-2.5-flash': ['generateContent', 'countTokens'],
  'gemini-2.5-pro': ['generateContent', 'countTokens'],
  'gemini-2.5-flash-image': ['generateContent', 'countTokens'],
  'veo-3.1-generate-001': ['predictLongRunning'],
  'gemini-omni-1.2-flash': ['createInteraction'],
  'veo-3.1-generate-preview': ['predictLongRunning'],
};

/** GET /v1beta/models; generateContent takes any name that begins with gemini-, predictLongRunning any with veo-. */
export const MODELS = Object.entries(METHODS).map(([id, supportedGenerationMethods]) => ({
  name: `models/${id}`,
  version: '001',
  displayName: id,
  description: 'local-rules and local-studio, no model of the vendor',
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  supportedGenerationMethods,
}));

/** GET /v1beta/models/{model}. */
export function modelAnswer(id: string): Answer {
  const found = MODELS.find(({ name }) => name === `models/${id}`);
  return found === undefined ? noModel(id, 'getModel') : json(found);
}

/** POST /v1beta/models/{model}:countTokens. */
export function answerTokenCount(request: WireRequest): Answer {
  const { model = '' } = request.params;
  if (!model.startsWith('gemini-')) return noModel(model, 'countTokens');
  const body = jsonObject(request);
  const parsed = generateRequest.safeParse(
    body?.['generateContentRequest'] ?? { contents: body?.['contents'] },
  );
  if (!parsed.success) return invalid(describeIssue(parsed.error.issues[0]));
  const texts = [...parsed.data.contents, parsed.data.systemInstruction].map((one) => textIn(one?.parts));
  const totalTokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  return json({ totalTokens, promptTokensDetails: [{ modality: 'TEXT', tokenCount: totalTokens }] });
}
