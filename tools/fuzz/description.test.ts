import { describe, expect, it } from 'vitest';

import { buildOpenApi } from '../../rest-compat/openapi/openapi.ts';
import { sections } from '../../rest-compat/tables.ts';
import { describedIn } from './description.ts';

const json = 'application/json; charset=utf-8';

function operation(service: 'media' | 'workflow', path: string) {
  const found = describedIn(buildOpenApi(service, sections)).find((one) => one.path === path);
  if (found === undefined) throw new Error(`${path} is not described`);
  return found;
}

describe('what the fuzzer holds answers against', () => {
  const status = operation('media', '/api/task/status/{task_id}');
  const running = {
    status: 'running',
    data: { task_id: 'x', state: 'running', stage: 'rendering', progress: 40, queue_position: null },
    msg: 'rendering',
  };

  it('lets what is described pass', () => {
    expect(status.fault(200, json, JSON.stringify(running))).toBeNull();
    expect(status.fault(200, json, '{"status":false,"data":null,"msg":"no task"}')).toBeNull();
    expect(status.fault(431, '', '')).toBeNull();
  });

  it.each([
    [418, json, '{}', 'status 418 is not described'],
    [200, 'text/html', '{}', 'content type "text/html"'],
    [200, json, '<html>', 'the body is not JSON'],
    [200, json, '{"status":true,"data":7,"msg":"x"}', 'breaks its schema'],
    [200, json, JSON.stringify({ ...running, status: 'ready' }), 'breaks its schema'],
    [401, json, '{"detail":"no"}', 'breaks its schema'],
    [431, '', 'x', 'there is a body'],
  ] as const)('finds fault with %i %s %s', (code, type, body, fault) => {
    expect(status.fault(code, type, body)).toContain(fault);
  });

  it('knows what data of the workflow service holds', () => {
    const told = { code: 200, message: 'x', timestamp: '2026-01-01T00:00:00.000Z', traceId: 't' };
    const { fault } = operation('workflow', '/payment/cancel');
    const payment = { id: 'p', status: 'cancelled' };
    expect([200, 404].map((status) => fault(status, 'text/html; charset=utf-8', '<h1>'))).toEqual([
      null,
      null,
    ]);
    expect(fault(200, json, JSON.stringify({ ...told, data: { payment } }))).toBeNull();
    expect(fault(200, json, JSON.stringify({ ...told, data: {} }))).toContain('breaks its schema');
  });
});
