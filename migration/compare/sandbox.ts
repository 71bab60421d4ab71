import type { ReplayedService } from './service.ts';

/** Whether a Kiln makes everything in its sandbox: only then may work be started there. */
export async function isSandbox(service: ReplayedService): Promise<boolean> {
  const lists = [
    '/api/union/img/model/list',
    '/api/union/video/model/list',
    '/api/custom/extend/model/list',
    '/api/llm/model/list',
  ];
  for (const target of lists) {
    const answer = await service.send({ method: 'GET', target, headers: {}, body: null });
    const data = (answer?.json as { readonly data?: unknown } | undefined)?.data;
    if (!Array.isArray(data) || data.length === 0) return false;
    if (data.some((model: { readonly sandbox?: unknown }) => model.sandbox !== true)) return false;
  }
  return true;
}
