import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { text as consume } from 'node:stream/consumers';

import sharp from 'sharp';
import { expect, test, vi } from 'vitest';

import { follow, imagine, postJson, startSandbox, temporaryFolder } from './test-kit.ts';

test('the page for people lists stand-ins and jobs, escapes what was asked, and never leads to the control', async () => {
  const { sandbox, stop } = await startSandbox();
  const server = createServer((request, response) => {
    sandbox.browser(request, response, () => response.writeHead(404).end('next'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await imagine(sandbox, '<script>alert(1)</script>');
    const page = await (await fetch(`${origin}/sandbox/`)).text();
    expect(page).toContain('midjourney');
    expect(page).toContain('&#60;script&#62;alert(1)');
    expect(page).not.toContain('<script>');
    expect(page).toContain('width=device-width');
    for (const hidden of ['/_control/starts', '/sandbox/_control/starts', '/sandbox/../_control/starts']) {
      const answer = await fetch(`${origin}${hidden}`);
      expect([answer.status, await answer.text()]).toEqual([404, 'next']);
    }
    expect((await fetch(`${origin}/sandbox/`, { method: 'POST' })).status).toBe(404);
    // Express takes the path out of it, which is ours.
    const { port } = server.address() as AddressInfo;
    const odd = request({ port, path: 'http://127.0.0.1:99999/sandbox', timeout: 5_000 });
    odd.once('timeout', () => odd.destroy()).end();
    const [answer] = (await once(odd, 'response')) as [IncomingMessage];
    expect([answer.statusCode, await consume(answer)]).toEqual([404, 'next']);
    // What the job made is on the page, and nothing else of the journal is.
    const findImage = async () =>
      /<img src="(results\/[^"]+)"/.exec(await (await fetch(`${origin}/sandbox/`)).text())?.[1];
    await vi.waitFor(async () => expect(await findImage()).toBeDefined(), 100_000);
    const image = await fetch(`${origin}/sandbox/${await findImage()}`);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await fetch(`${origin}/sandbox/results/other.png`)).status).toBe(404);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await stop();
  }
});

test('answers 404 where there is no stand-in and no route, 413 to a body that is too large', async () => {
  const { sandbox, stop } = await startSandbox();
  try {
    expect((await fetch(`${sandbox.url}/nobody/x`)).status).toBe(404);
    expect((await fetch(`${sandbox.url}//`)).status).toBe(404);
    expect((await fetch(`${sandbox.wires.midjourney}/mj/submit/unknown`, { method: 'POST' })).status).toBe(
      404,
    );
    const body = Buffer.alloc(65 * 1024 * 1024);
    const large = fetch(`${sandbox.wires.midjourney}/mj/submit/imagine`, { method: 'POST', body }).then(
      ({ status }) => status,
      () => 413, // the connection may be gone before the answer is read
    );
    expect(await large).toBe(413);
  } finally {
    await stop();
  }
});

test('refuses a form that breaks off inside a file, and goes on', async () => {
  const { sandbox, stop } = await startSandbox();
  try {
    const part = 'Content-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png';
    const answer = await fetch(`${sandbox.wires.openai}/images/edits`, {
      method: 'POST',
      headers: { authorization: 'Bearer a-key', 'content-type': 'multipart/form-data; boundary=edge' },
      body: `--edge\r\n${part}\r\n\r\nbroken`,
    });
    expect(answer.status).toBe(400);
    expect((await answer.json()) as object).toMatchObject({ error: { param: 'body' } });
  } finally {
    await stop();
  }
});

test('ends upgrades of other hosts, to no stand-in and to no path, and goes on', async () => {
  const { sandbox, stop } = await startSandbox();
  const { port } = new URL(sandbox.url);
  const upgrade = async (target: string, host = `127.0.0.1:${port}`): Promise<string> => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    return (await consume(socket)).split('\r\n')[0] ?? '';
  };
  try {
    expect(await upgrade('/comfyui/ws', 'evil.example')).toBe('HTTP/1.1 403 Forbidden');
    expect(await upgrade('/midjourney/ws')).toBe('HTTP/1.1 404 Not Found');
    expect(await upgrade('//')).toBe('HTTP/1.1 404 Not Found');
    expect((await fetch(`${sandbox.url}/_control/latency`)).status).toBe(200);
  } finally {
    await stop();
  }
});

test('renders for real as a process of its own, and takes its renderer along when it is killed', async () => {
  const { folder, remove } = await temporaryFolder();
  const main = path.join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, [main, '--data', folder, '--small'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { wires } = JSON.parse(line.toString('utf8')) as { wires: { midjourney: string } };
    const { body } = await postJson(`${wires.midjourney}/mj/submit/imagine`, {
      prompt: 'a red boat --ar 3:2',
    });
    const task = (await follow(wires.midjourney, String(body['result']))).at(-1);
    const image = Buffer.from(await (await fetch(task?.imageUrl ?? '')).arrayBuffer());
    const { width, height, xmp } = await sharp(image).metadata();
    expect(width / height).toBeCloseTo(1.5, 1);
    expect(xmp?.toString('utf8')).toContain('a red boat');
    const renderers = await listChildren(child);
    expect(renderers).toHaveLength(process.platform === 'linux' ? 1 : 0);
    child.kill('SIGKILL');
    await expect.poll(() => renderers.filter(isAlive)).toEqual([]);
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    await remove();
  }
});

/** Process ids of a process's children; none where /proc does not tell. */
async function listChildren({ pid }: ChildProcess): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.trim().split(' ').filter(Boolean).map(Number);
}

/** A zombie is gone: only nobody has asked for its exit code (where process 1 does not care for orphans). */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
