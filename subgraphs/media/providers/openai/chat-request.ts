import type { ChatFormat } from '../../domain/chat-options.ts';
import type { CallContext, ChatRequest } from '../contract/provider.ts';
import { withVendorOptions } from '../shared/vendor-options.ts';
import { unreadable } from './wire.ts';

const DEFAULT_MODEL = 'gpt-4o-mini';

/** The body of a chat completion. */
export function bodyOf(request: ChatRequest, { connection }: CallContext): Record<string, unknown> {
  if (!Array.isArray(request.messages)) throw unreadable(new Error('messages are no list'));
  const { messages, system, temperature, maxTokens, reasoningEffort } = request;
  return withVendorOptions(
    { options: request.vendorOptions ?? {} },
    {
      model: connection.model ?? DEFAULT_MODEL,
      messages: system === null ? messages : [{ role: 'system', content: system }, ...messages],
      ...(temperature !== null && { temperature }),
      ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
      ...toolsOf(request),
      ...(request.responseFormat && { response_format: formatOf(request.responseFormat) }),
      ...(reasoningEffort && { reasoning_effort: reasoningEffort.toLowerCase() }),
    },
  );
}

function toolsOf({ tools = [], toolChoice: choice }: ChatRequest): object {
  if (tools.length === 0) return {};
  const isMode = choice === 'auto' || choice === 'none' || choice === 'required';
  return {
    tools: tools.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: {
        name,
        ...(description !== null && { description }),
        ...(parameters !== null && { parameters }),
        ...(strict !== null && { strict }),
      },
    })),
    ...(choice && { tool_choice: isMode ? choice : { type: 'function', function: { name: choice } } }),
  };
}

function formatOf(format: ChatFormat): object {
  if (format.type === 'JSON_OBJECT') return { type: 'json_object' };
  const { name, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, schema, ...(strict !== null && { strict }) } };
}
