import type { Fault } from '../../faults/faults.ts';
import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import type { WireRequest, WireRoute } from '../../http/wire.ts';
import { detail } from '../shared/fastapi.ts';
import type { HedraParts } from './parts.ts';
import { listVoices } from './voices.ts';
import { generate } from './web-app-generate.ts';
import { generationJson } from './web-app-generation-json.ts';

/** The older API's generations and voices. */
export function generationRoutes(parts: HedraParts): WireRoute[] {
  return [
    {
      method: 'POST',
      path: '/web-app/public/generations',
      operation: 'generate',
      handle: (request, fault) => generate(parts, request, fault),
    },
    {
      method: 'GET',
      path: '/web-app/public/generations/:id/status',
      operation: 'status',
      handle: (request, fault) => status(parts, request, fault),
    },
    {
      method: 'GET',
      path: '/web-app/public/voices',
      operation: 'voices',
      handle: () =>
        json(
          listVoices(parts.studio).map(({ wireId, name }) => ({
            id: wireId,
            type: 'voice',
            name,
            created_at: '2025-01-01T00:00:00Z',
            asset: { type: 'voice' },
          })),
        ),
    },
  ];
}

async function status(
  { runner, results }: HedraParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { id = '' } = request.params;
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.get(id);
  if (job?.operation !== 'generate') return detail(404, 'Generation not found');
  const url = results.toUrl(job, request.baseUrl);
  return json(generationJson(job, { url, percent: runner.readProgress(job) }));
}
