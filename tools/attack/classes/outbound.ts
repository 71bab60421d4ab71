import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { rest } from '../../../test/kit/clients/requests.ts';
import { type AttackClass, modes, told } from '../attack.ts';

/** Forms of addresses that lead into the operator's own network: refused at once, and never asked. */
export const outbound: AttackClass = {
  name: 'addresses of the inside',
  modes,
  isQuick: true,
  async run({ url, admin }) {
    let asked = 0;
    const inside = createServer((_, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    const { port } = inside.address() as AddressInfo;
    const attempts = [];
    for (const address of listForms(port)) {
      for (const field of ['img_url', 'callback'] as const) {
        const { status, body } = await submit(url, address, { field, headers: admin });
        // A name is resolved, and refused, when it is fetched.
        const isRefused =
          address.includes('localhost') ||
          status >= 400 ||
          body.status === false ||
          body.errors !== undefined;
        attempts.push({
          what: `${field} ${address}`,
          answer: `${status} ${told(body)}`,
          succeeded: !isRefused,
        });
      }
    }
    await pause(1_500);
    attempts.push({ what: 'requests that came through', answer: String(asked), succeeded: asked > 0 });
    inside.close();
    return attempts;
  },
};

function listForms(port: number): readonly string[] {
  return [
    `http://127.0.0.1:${port}/x.png`,
    `http://localhost:${port}/x.png`,
    `http://[::1]:${port}/x.png`,
    `http://[::ffff:127.0.0.1]:${port}/x.png`,
    `http://2130706433:${port}/x.png`,
    `http://0x7f000001:${port}/x.png`,
    `http://0177.0.0.1:${port}/x.png`,
    `http://127.1:${port}/x.png`,
    `http://user:pass@127.0.0.1:${port}/x.png`,
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/x.png',
    'http://[fd00::1]/x.png',
    'http://0.0.0.0/x.png',
    'file:///etc/passwd',
    'gopher://127.0.0.1/x',
  ];
}

async function submit(
  url: string,
  address: string,
  {
    field,
    headers,
  }: { readonly field: 'img_url' | 'callback'; readonly headers: Readonly<Record<string, string>> },
) {
  if (field === 'img_url') {
    const form = { task_type: 'lady', prompt: 'x', img_url: address };
    return rest(url, 'POST', '/api/task/create/task', form, headers);
  }
  const query =
    'mutation ($url: String!) { createTask(taskType: "tea", prompt: "x", callbackUrl: $url) { id } }';
  return rest(url, 'POST', '/graphql', { query, variables: { url: address } }, headers);
}
