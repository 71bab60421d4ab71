import { makeInstance } from '../shared/rules/json-schema.ts';
import { textIn } from './request.ts';
import type { GenerateRequest } from './request.ts';

/** The call of a function, as a part: the one that the last message names, or, when one must be called, the first. */
export function functionCall({ contents, tools, toolConfig }: GenerateRequest): object | null {
  const last = contents.at(-1);
  if (last?.parts.some((part) => 'functionResponse' in part)) return null;
  const { mode = 'AUTO', allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {};
  const text = textIn(last?.parts);
  const declared = (tools ?? [])
    .flatMap(({ functionDeclarations }) => functionDeclarations)
    .filter(({ name }) => allowed?.includes(name) ?? true);
  const named = declared.find(
    ({ name }) => text.includes(name) || text.toLowerCase().includes(name.replaceAll('_', ' ').toLowerCase()),
  );
  const found = mode === 'NONE' ? undefined : (named ?? (mode === 'ANY' ? declared[0] : undefined));
  if (found === undefined) return null;
  const args = makeInstance(found.parametersJsonSchema ?? found.parameters ?? {}, text);
  return { functionCall: { name: found.name, args } };
}

/** The reply in the format that was asked for, up to a stop sequence. */
export function formatted({ contents, generationConfig = {} }: GenerateRequest, answered: string): string {
  const { responseMimeType: type, responseSchema, responseJsonSchema, stopSequences = [] } = generationConfig;
  const last = contents.at(-1);
  const responses = (last?.parts ?? []).flatMap((part) =>
    'functionResponse' in part ? [JSON.stringify(part.functionResponse.response)] : [],
  );
  const text = responses.length > 0 ? responses.join('\n') : answered;
  const schema = responseJsonSchema ?? responseSchema;
  if (type === 'application/json') {
    return JSON.stringify(schema === undefined ? { reply: text } : makeInstance(schema, textIn(last?.parts)));
  }
  const chosen =
    type === 'text/x.enum' && schema !== undefined ? makeInstance(schema, textIn(last?.parts)) : null;
  if (typeof chosen === 'string') return chosen;
  const ends = stopSequences.map((stop) => text.indexOf(stop)).filter((at) => at !== -1);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}
