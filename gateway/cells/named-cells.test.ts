import { deflateSync, gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { markId, newId } from '../../platform/ids.ts';
import { readCellsFile } from './cells-file.ts';
import { cellOfAddress, cellOfMessage, cellOfOperation, cellOfOperations } from './named-cells.ts';
import { findCellOfBody } from './step.ts';

const urls = new Map([0, 1, 2].map((cell) => [cell, `https://cell-${cell}.example`]));
const cells = { own: 1, home: 0, urls };
const [first, own, other, unknown] = [newId(), ...[1, 2, 9].map((cell) => markId(newId(), cell))];

describe('the cell of an address', () => {
  it.each([
    ['of an id in the path', `/v1/videos/${other}/content`, 2],
    ['of a batch of calls', `/v1/batches/batch_${String(other).replaceAll('-', '')}/cancel`, 2],
    ['of an id in the query', `/api/x?task_id=${other}`, 2],
    ['of an id without a mark', `/api/x?task_id=${first}`, 0],
    ['that is named', '/graphql?cell=2', 2],
    ['of sign-in', '/api/auth/login', 0],
    ['of an id of its own', `/api/x?task_id=${own}`, null],
    ['of a cell that nobody knows', `/api/x?task_id=${unknown}`, null],
    ['of ids of two cells', `/api/x?a=${other}&b=${first}`, null],
    ['of another name that ends like it', '/graphql?supercell=2&cells=2', null],
    ['of sign-in in the query alone', '/api/x?next=/auth/login', null],
    ['without an id', '/api/x', null],
  ])('is found %s', (_, url, cell) => {
    expect(cellOfAddress(url, cells)).toBe(cell);
  });
});

describe('the cell of an operation', () => {
  const inQuery = (query: string) =>
    cellOfOperation({ query, operationName: undefined, variables: {} }, cells);
  const inVariables = (variables: Record<string, unknown>) =>
    cellOfOperation({ query: '{ __typename }', operationName: undefined, variables }, cells);

  it('is found by ids among variables, and not by keys that callers choose or texts with ids', () => {
    expect(inVariables({ input: { ids: [other] } })).toBe(2);
    expect(inVariables({ input: { idempotencyKey: other } })).toBeNull();
    expect(inVariables({ prompt: `like ${other}` })).toBeNull();
    expect(inVariables({ ids: [own, other] })).toBeNull();
  });

  it('is found by quoted ids', () => {
    expect(inQuery(`{ task(id: "${other}") { id } }`)).toBe(2);
  });

  it('is the home cell for accounts alone', () => {
    expect(inQuery('{ viewer { id } }')).toBe(0);
    expect(inQuery('mutation { rotateServiceKey(id: "key_of_shop") { secret } }')).toBe(0);
    expect(inQuery('{ viewer { id } tasks { totalCount } }')).toBeNull();
    expect(inQuery('{ tasks { edges { node { id } } } }')).toBeNull();
    expect(inQuery('query A { viewer { id } } query B { viewer { id } }')).toBeNull();
    expect(inQuery('{ ...viewer } fragment viewer on Query { tasks { totalCount } }')).toBeNull();
    const asHome = { own: 0, home: 0, urls };
    expect(
      cellOfOperation({ query: '{ viewer { id } }', operationName: undefined, variables: {} }, asHome),
    ).toBeNull();
  });
});

describe('the cell of a batch', () => {
  const operation = (query: string, variables = {}) => ({ query, operationName: undefined, variables });
  const asks = (id = '') => operation('query ($id: ID!) { task(id: $id) { id } }', { id });

  it('is that of all ids of its operations', () => {
    expect(cellOfOperations([asks(other), asks(other)], cells)).toBe(2);
    expect(cellOfOperations([asks(other), asks(own)], cells)).toBeNull();
    expect(cellOfOperations([operation('{ viewer { id } }'), operation('{ sessions { id } }')], cells)).toBe(
      0,
    );
    expect(
      cellOfOperations([operation('{ viewer { id } }'), operation('{ tasks { id } }')], cells),
    ).toBeNull();
    expect(cellOfOperations([], cells)).toBeNull();
  });
});

describe('the cell of a message of MCP', () => {
  const call = (params: unknown) => cellOfMessage({ jsonrpc: '2.0', id: other, method: 'x', params }, cells);

  it.each([
    ['a task among the arguments of a tool', { name: 'get_task', arguments: { task_id: other } }, 2],
    ['a file by its resource', { arguments: { image: `kiln://media/${other}` } }, 2],
    ['a task of the protocol', { taskId: first }, 0],
    ['tasks that are listened to', { notifications: { taskIds: [other] } }, 2],
    ['the address of a resource', { uri: `kiln://tasks/${other}` }, 2],
    ['the address of a file', { uri: `https://kiln.example/files/${other}/fox.png` }, 2],
    ['a prompt about an id', { arguments: { prompt: `a sign that says ${other}` } }, null],
    ['what clients say of themselves', { _meta: { progressToken: other } }, null],
    ['nothing', undefined, null],
  ])('is found by %s', (_, params, cell) => {
    expect(call(params)).toBe(cell);
  });

  it('is found in a batch of them by the ids of all', () => {
    const [asks, asksOwn] = [other, own].map((taskId) => ({
      jsonrpc: '2.0',
      method: 'x',
      params: { taskId },
    }));
    expect(cellOfMessage([asks, { jsonrpc: '2.0', method: 'ping' }, asks], cells)).toBe(2);
    expect(cellOfMessage([asks, asksOwn], cells)).toBeNull();
    expect(cellOfMessage([], cells)).toBeNull();
  });
});

describe('the cell of a body', () => {
  const of = (path: string, body: string | Buffer, headers = {}) =>
    findCellOfBody(
      { path, headers: { 'content-type': 'application/json', ...headers }, bytes: Buffer.from(body) },
      cells,
    );
  const quoted = JSON.stringify({ query: `{ task(id: "${other}") { id } }` });
  const named = JSON.stringify({ id: other });

  it('is looked for in operations where the path is that of GraphQL, and in values elsewhere', async () => {
    expect(await of('/graphql', quoted)).toBe(2);
    expect(await of('/graphql/', JSON.stringify([{ query: '{ viewer { id } }' }]))).toBe(0);
    expect(await of('/GraphQL', quoted)).toBe(2);
    expect(await of('/api/x', quoted)).toBeNull();
    expect(await of('/graphql', JSON.stringify({ query: '{ __typename }', id: other }))).toBeNull();
    expect(await of('/graphql', JSON.stringify([{ id: other }, { query: '' }]))).toBeNull();
    expect(await of('/mcp', JSON.stringify({ id: other, params: { uri: `https://x/${other}` } }))).toBe(2);
    expect(await of('/mcp', named)).toBeNull();
    expect(await of('/api/x', named)).toBe(2);
  });

  it('is that of the operations of a form, wherever they stand in it, and not of its other fields', async () => {
    const form = (fields: Readonly<Record<string, unknown>>) =>
      `${Object.entries(fields)
        .map(
          ([name, value]) =>
            `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
        )
        .join('')}--b--\r\n`;
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    expect(await of('/graphql', form({ map: '{}', operations: quoted }), type)).toBe(2);
    expect(await of('/graphql', form({ operations: '{"query":"{ x }"}', task_id: other }), type)).toBeNull();
    expect(await of('/api/x', form({ task_id: other }), type)).toBe(2);
  });

  it('is found through compression and a byte order mark, and in nothing that can not be read', async () => {
    expect(await of('/api/x', gzipSync(named), { 'content-encoding': 'GZIP' })).toBe(2);
    expect(await of('/api/x', deflateSync(named), { 'content-encoding': 'deflate' })).toBe(2);
    expect(await of('/api/x', `\uFEFF${named}`)).toBe(2);
    expect(await of('/api/x', named, { 'content-encoding': 'gzip' })).toBeNull();
    expect(await of('/api/x', named, { 'content-encoding': 'zstd' })).toBeNull();
    const bomb = gzipSync(`${' '.repeat(2_000_000)}${named}`);
    expect(await of('/api/x', bomb, { 'content-encoding': 'gzip' })).toBeNull();
  });

  it('is looked for in so many values and no more', async () => {
    const before = (count: number) => JSON.stringify([other, ...Array.from({ length: count }, () => 0)]);
    expect(await of('/api/x', before(9_997))).toBe(2);
    expect(await of('/api/x', before(9_998))).toBeNull();
  });
});

describe('CELLS_FILE', () => {
  const read = (value: object | string, cell = 1) =>
    readCellsFile(
      { path: '/etc/cells.json', text: typeof value === 'string' ? value : JSON.stringify(value) },
      cell,
    );

  it('names the home of all, and the address of each', () => {
    const file = {
      home: 0,
      cells: { 0: 'https://a.example//', 1: 'http://b.example', 255: 'https://c.example/x/' },
    };
    expect(read(file)).toEqual({
      own: 1,
      home: 0,
      urls: new Map([
        [0, 'https://a.example'],
        [1, 'http://b.example'],
        [255, 'https://c.example/x'],
      ]),
    });
  });

  const a = 'https://a.example';
  it.each([
    [{ home: 0, cells: { 0: a } }, 'lacks cell 1, which this is (CELL): add its address'],
    [{ home: 2, cells: { 1: a } }, 'names cell 2, which is not among the cells'],
    [{ home: 256, cells: { 1: a } }, 'home'],
    [{ home: 1, cells: { 1: 'ftp://a.example' } }, 'must be an http or https address'],
    [{ home: 1, cells: { 1: a, 256: a } }, 'has a cell above 255'],
    [{ home: 1, cells: { 1: a, '01': a } }, 'must be the number of a cell, 0 to 255'],
    [{ home: 1, cells: { 1: a }, more: 1 }, 'more'],
    [[], 'the file'],
    ['{', 'line 1'],
  ])('is refused: %j', (value, told) => {
    expect(() => read(value)).toThrow(
      expect.objectContaining({
        code: 'NOT_CONFIGURED',
        message: expect.stringContaining(told) as string,
      }) as Error,
    );
  });
});
