import type { JsonObject } from '../../../../platform/json.ts';
import type { ChatFormat, ReasoningEffort } from '../../domain/chat-options.ts';
import { invalidInput } from '../../domain/failure.ts';
import type { ChatRequest } from '../contract/provider.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { buildContents } from './contents.ts';

/** The body of generateContent for a chat. Throws INVALID_INPUT when this wire can't be asked so. */
export function buildBody(request: ChatRequest, model: string): object {
  const { messages, system, temperature, maxTokens, responseFormat: format, reasoningEffort } = request;
  if (format && (request.tools ?? []).length > 0 && !isThird(model)) {
    throw invalidInput('responseFormat', 'this model takes tools or responseFormat, not both');
  }
  const generationConfig: JsonObject = {
    ...(temperature !== null && { temperature }),
    ...(maxTokens !== null && { maxOutputTokens: maxTokens }),
    ...(format && toFormat(format)),
    ...(reasoningEffort && { thinkingConfig: toThinkingConfig(reasoningEffort, model) }),
    ...(makesImages(model) && { responseModalities: ['TEXT', 'IMAGE'] }),
  };
  return withVendorOptions(
    { options: request.vendorOptions ?? {} },
    {
      ...buildContents({ messages, system }, { isSigned: isThird(model) }),
      ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
      ...toTools(request),
    },
  );
}

function toFormat(format: ChatFormat): JsonObject {
  return {
    responseMimeType: 'application/json',
    ...(format.type === 'JSON_SCHEMA' && { responseJsonSchema: format.schema }),
  };
}

function toTools({ tools = [], toolChoice: choice }: ChatRequest): object {
  if (tools.length === 0) return {};
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    ...(description !== null && { description }),
    ...(parameters !== null && { parametersJsonSchema: parameters }),
  }));
  return {
    tools: [{ functionDeclarations }],
    ...(choice && { toolConfig: { functionCallingConfig: toCallingConfig(choice) } }),
  };
}

/** A map, as a function may be named as anything, such as `constructor`. */
const MODES: ReadonlyMap<string, string> = new Map([
  ['auto', 'AUTO'],
  ['none', 'NONE'],
  ['required', 'ANY'],
]);

function toCallingConfig(choice: string): JsonObject {
  const mode = MODES.get(choice);
  return mode === undefined ? { mode: 'ANY', allowedFunctionNames: [choice] } : { mode };
}

/** Tokens of thought, as Google's own OpenAI-compatible endpoint maps the words. */
const BUDGETS = { NONE: 0, MINIMAL: 1_024, LOW: 1_024, MEDIUM: 8_192, HIGH: 24_576 } as const;

/** Gemini 3 takes a level, those before it a number of tokens. */
function toThinkingConfig(effort: ReasoningEffort, model: string): JsonObject {
  if (effort === 'XHIGH') throw invalidInput('reasoningEffort', 'must be at most HIGH for this model');
  if (effort === 'NONE' && (isThird(model) || model.includes('pro'))) {
    throw invalidInput('reasoningEffort', 'can not be NONE: this model always thinks');
  }
  return isThird(model) ? { thinkingLevel: effort } : { thinkingBudget: BUDGETS[effort] };
}

/** Whether a model answers with images too; its vendor names them so. */
export function makesImages(model: string): boolean {
  return /-image\b|banana/.test(model);
}

function isThird(model: string): boolean {
  return /^gemini-(?!1|2)/.test(model);
}
