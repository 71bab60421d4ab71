import type { CallToolResult, GetPromptResult } from '@modelcontextprotocol/server';

/** The contents that the suite's scenarios ask for by name. They are the suite's, and no part of Kiln. */

/** An image of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** A recording of nothing. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = (value: string) => ({ type: 'text', text: value }) as const;
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const resource = (uri: string) =>
  ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'embedded' } }) as const;

/** Results of tools that answer at once. */
export const results: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [resource('test://embedded-resource')] },
  test_multiple_content_types: {
    content: [text('Multiple content types test:'), image, resource('test://mixed-content-resource')],
  },
  test_error_handling: {
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  },
};

/** What resources hold. */
export const resources = [
  { uri: 'test://static-text', name: 'text', mimeType: 'text/plain', text: 'This is the content.' },
  { uri: 'test://static-binary', name: 'binary', mimeType: 'image/png', blob: PNG },
];

/** What the one template makes. */
export function templated(uri: string) {
  const id = /^test:\/\/template\/(\w+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return { uri, name: 'template', mimeType: 'application/json', text: data };
}

/** The prompts by name. */
export const prompts: Readonly<
  Record<string, (given: Readonly<Record<string, string>>) => GetPromptResult['messages']>
> = {
  test_simple_prompt: () => [said(text('This is a simple prompt for testing.'))],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri = 'test://example-resource' }) => [
    said(resource(resourceUri)),
    said(text('Please process the embedded resource above.')),
  ],
  test_prompt_with_image: () => [said(image), said(text('Please analyze the image above.'))],
};

function said(content: GetPromptResult['messages'][number]['content']) {
  return { role: 'user', content } as const;
}
