import { once } from 'node:events';
import { type IncomingMessage, request as begin } from 'node:http';

/** Another address of this machine, whose connections are counted apart. */
const ADDRESS = '127.0.0.2';

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Opens streams of one caller from another address, so that the connections of this one stay free. Fails where one is refused. */
export async function openStreams(
  url: string,
  count: number,
  { method = 'GET', headers, body }: Asked,
): Promise<{ close(): void }> {
  const answers = await Promise.all(
    Array.from({ length: count }, async () => {
      const sent = begin(url, { method, headers, localAddress: ADDRESS, agent: false });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      if (answer.statusCode !== 200) throw new Error(`a stream was refused with ${answer.statusCode}`);
      answer.resume().on('error', () => undefined);
      return answer;
    }),
  );
  return {
    close() {
      for (const answer of answers) answer.destroy();
    },
  };
}
