import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The least that speaks OpenAI's wire: one streamed reply, and one finished video. Both proxies are before it.
const WORDS = 'A lighthouse stands where the land ends and the sea begins .'.split(' ');
const chunk = (choices: readonly object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices, ...more })}\n\n`;
const STREAM = [
  ...WORDS.map((word) => chunk([{ index: 0, delta: { content: `${word} ` }, finish_reason: null }])),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 } }),
  'data: [DONE]\n\n',
];
const VIDEO = JSON.stringify({
  id: 'video_1',
  object: 'video',
  model: 'sora-2',
  status: 'completed',
  progress: 100,
  created_at: 1,
  completed_at: 2,
  expires_at: null,
  prompt: 'the sea',
  size: '1280x720',
  seconds: '4',
  remixed_from_video_id: null,
  error: null,
});
/** The smallest PNG, for the image that is asked for again. */
const IMAGE = JSON.stringify({
  created: 1,
  data: [
    {
      b64_json:
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    },
  ],
});

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const { url = '' } = request;
    if (url.endsWith('/chat/completions')) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      for (const event of STREAM) response.write(event);
      response.end();
      return;
    }
    response.setHeader('Content-Type', 'application/json');
    if (url.includes('/videos')) response.end(VIDEO);
    else if (url.includes('/images/')) response.end(IMAGE);
    else response.writeHead(404).end('{}');
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('disconnect', () => process.exit(0));
