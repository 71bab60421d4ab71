import { createHash } from 'node:crypto';

import { bytes, empty, json, type Answer } from '../../http/answer.ts';
import { readForm } from '../../http/multipart.ts';
import type { WireRequest, WireRoute } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { readText } from '../shared/inputs.ts';
import { newPredictionId, problem, type ReplicateParts } from './start.ts';

const KEPT_MS = 24 * 3_600_000;

/** Files are stored as jobs without work, so that they are deleted like jobs. */
export function fileRoutes(parts: ReplicateParts): WireRoute[] {
  const { runner, journal } = parts;
  const listFiles = () => runner.list().filter(({ operation }) => operation === 'file');
  const show = ({ params }: WireRequest, answer: (file: Job) => Promise<Answer> | Answer) => {
    const file = listFiles().find(({ id }) => id === params['id']);
    return file === undefined ? problem(404, 'Not Found', 'File not found') : answer(file);
  };
  const route = (
    [method, path]: readonly [WireRoute['method'], string],
    operation: string,
    handle: WireRoute['handle'],
  ): WireRoute => ({ method, path, operation, handle });
  return [
    route(['POST', '/v1/files'], 'upload', (request) => upload(parts, request)),
    route(['GET', '/v1/files'], 'files', ({ baseUrl }) =>
      json({ next: null, previous: null, results: listFiles().map((file) => fileJson(file, baseUrl)) }),
    ),
    route(['GET', '/v1/files/:id'], 'fileInfo', (request) =>
      show(request, (file) => json(fileJson(file, request.baseUrl))),
    ),
    route(['DELETE', '/v1/files/:id'], 'removeFile', (request) =>
      show(request, async ({ id }) => {
        await runner.forget(id);
        return empty(204);
      }),
    ),
    // What models fetch inputs from: at the vendor an address that is signed and expires.
    route(['GET', '/v1/files/:id/download'], 'file', (request) =>
      show(request, async ({ id, input }) => {
        const content = await journal.readImage(`${id}-input-0`);
        return content === null ? empty(404) : bytes(content, readText(input['contentType']) ?? '');
      }),
    ),
  ];
}

async function upload({ runner, journal }: ReplicateParts, request: WireRequest): Promise<Answer> {
  const form = await readForm(request);
  const content = form?.files.find(({ field }) => field === 'content');
  if (content === undefined) return problem(400, 'Bad Request', 'Missing content');
  const id = newPredictionId();
  const image = `${id}-input-0`;
  await journal.writeImage(image, content.bytes);
  const input = {
    pictures: [image],
    name: content.name ?? 'file',
    contentType: content.type ?? 'application/octet-stream',
    size: content.bytes.length,
    sha256: createHash('sha256').update(content.bytes).digest('hex'),
  };
  const file = await runner.submit({ id, operation: 'file', reference: null, input, fault: null });
  return file === null
    ? problem(429, 'Too Many Requests', 'too many files')
    : json(fileJson(file, request.baseUrl), 201);
}

function fileJson({ id, input, submittedAt }: Job, baseUrl: string): object {
  return {
    id,
    name: input['name'],
    content_type: input['contentType'],
    size: input['size'],
    etag: input['sha256'],
    checksums: { sha256: input['sha256'] },
    metadata: {},
    created_at: new Date(submittedAt).toISOString(),
    expires_at: new Date(submittedAt + KEPT_MS).toISOString(),
    urls: { get: `${baseUrl}/v1/files/${id}` },
  };
}
