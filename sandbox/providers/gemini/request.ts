import { z } from 'zod';

/** The schema of generateContent; unknown fields are refused, as by Google. */

const displayName = z.string().optional();
/** Either alphabet: Google's clients write bytes with - and _. */
const base64 = z.union([z.base64(), z.base64url(), z.string().regex(/^[\w-]+={0,2}$/)]);
const blob = z.strictObject({ mimeType: z.string().min(1), data: base64, displayName });
const fileData = z.strictObject({ mimeType: z.string().optional(), fileUri: z.string().min(1), displayName });
const part = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ inlineData: blob, thoughtSignature: z.string().optional() }),
  z.strictObject({ fileData }),
  z.strictObject({
    functionCall: z.looseObject({ name: z.string() }),
    thoughtSignature: z.string().optional(),
  }),
  z.strictObject({ functionResponse: z.looseObject({ name: z.string(), response: z.unknown() }) }),
]);
const content = z.strictObject({ role: z.enum(['user', 'model']).optional(), parts: z.array(part).min(1) });

const schema = z.record(z.string(), z.unknown());

/** Tools of the caller's; Google's own (search, code execution) are not there. */
const toolFields = {
  tools: z
    .array(
      z.strictObject(
        {
          functionDeclarations: z.array(
            z.strictObject({
              name: z.string().min(1),
              description: z.string().optional(),
              parameters: schema.optional(),
              parametersJsonSchema: schema.optional(),
              response: schema.optional(),
              responseJsonSchema: schema.optional(),
              behavior: z.enum(['UNSPECIFIED', 'BLOCKING', 'NON_BLOCKING']).optional(),
            }),
          ),
        },
        'Tool use with this tool is unsupported for this model.',
      ),
    )
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(['AUTO', 'ANY', 'NONE']).optional(),
        allowedFunctionNames: z.array(z.string()).optional(),
      }),
    })
    .optional(),
};

/** Members whose own names are the caller's. */
const FREE: ReadonlySet<string> = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
]);

/** Google takes the names of its fields in either writing: thinkingBudget, thinking_budget. */
function camelNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelNames);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([written, inner]) => {
    const name = written.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [name, FREE.has(name) ? inner : camelNames(inner)];
  });
  return Object.fromEntries(entries) as unknown;
}

const generateBody = z.strictObject({
  contents: z.array(content).min(1),
  systemInstruction: z.strictObject({ role: z.string().optional(), parts: z.array(part) }).optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().min(0).max(2).optional(),
      maxOutputTokens: z.number().int().min(1).optional(),
      topP: z.number().optional(),
      topK: z.number().optional(),
      seed: z.number().int().optional(),
      candidateCount: z.literal(1).optional(),
      responseMimeType: z.enum(['text/plain', 'application/json', 'text/x.enum']).optional(),
      responseSchema: schema.optional(),
      responseJsonSchema: schema.optional(),
      presencePenalty: z.number().optional(),
      frequencyPenalty: z.number().optional(),
      mediaResolution: z
        .enum(['MEDIA_RESOLUTION_LOW', 'MEDIA_RESOLUTION_MEDIUM', 'MEDIA_RESOLUTION_HIGH'])
        .optional(),
      stopSequences: z.array(z.string()).max(5).optional(),
      thinkingConfig: z
        .strictObject({
          thinkingBudget: z.number().int().min(-1).max(32_768).optional(),
          includeThoughts: z.boolean().optional(),
          thinkingLevel: z.enum(['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']).optional(),
        })
        .optional(),
      responseModalities: z.array(z.enum(['TEXT', 'IMAGE', 'AUDIO'])).optional(),
      speechConfig: z
        .strictObject({
          languageCode: z.string().optional(),
          voiceConfig: z
            .strictObject({ prebuiltVoiceConfig: z.strictObject({ voiceName: z.string().min(1) }) })
            .optional(),
        })
        .optional(),
      imageConfig: z
        .strictObject({
          aspectRatio: z
            .enum(['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'])
            .optional(),
          imageSize: z.enum(['1K', '2K', '4K']).optional(),
        })
        .optional(),
    })
    .optional(),
  safetySettings: z.array(z.unknown()).optional(),
  serviceTier: z.enum(['unspecified', 'flex', 'standard', 'priority']).optional(),
  ...toolFields,
});

/** A body of generateContent and streamGenerateContent. */
export const generateRequest = z.preprocess(camelNames, generateBody);

/** The body of a generateContent request. */
export type GenerateRequest = z.output<typeof generateRequest>;
type Part = z.output<typeof part>;
type Medium = { readonly bytes: Buffer } | { readonly uri: string };

/** The texts of these parts, one per line. */
export function textIn(parts: readonly Part[] = []): string {
  return parts
    .flatMap((one) => ('text' in one ? [one.text] : []))
    .join('\n')
    .trim();
}

/** The files of these parts: inline, or by URL. */
export function mediaIn(parts: readonly Part[]): readonly Medium[] {
  return parts.flatMap((one): Medium[] => {
    if ('inlineData' in one) return [{ bytes: Buffer.from(one.inlineData.data, 'base64') }];
    return 'fileData' in one ? [{ uri: one.fileData.fileUri }] : [];
  });
}
