import { success, type Envelope } from '../replies/envelopes.ts';
import { localRoute } from '../route/define-route.ts';
import type { UploadedFile } from '../route/param.ts';
import { file } from '../route/params.ts';
import type { Route, Section } from '../route/route.ts';
import { multipart } from './shared/inputs.ts';
import { healthRoute } from './shared/questions.ts';

/** Root and file operations. */
export const files: Section = {
  service: 'media',
  title: 'Root and file operations',
  routes: [
    localRoute({
      method: 'GET',
      path: '/',
      rule: 'public',
      responseSchema: 'Welcome',
      reply: (_, { settings: { publicUrl, version } }) => {
        const data = { name: 'Kiln', version, docs: `${publicUrl}/docs`, graphql: `${publicUrl}/graphql` };
        return success(data, 'Kiln is running');
      },
    }),
    upload({ path: '/api/file/upload', deprecated: true, cdn: false }),
    upload({ path: '/api/file/upload/s3', cdn: true }),
    healthRoute('/api/file/health', { parts: ['database', 'files'] }),
  ],
};

/** Stores a file for good, and replies its address: the CDN's when `cdn` is set and there is one. */
function upload(options: {
  readonly path: string;
  readonly deprecated?: true;
  readonly cdn: boolean;
}): Route {
  const { cdn, ...facts } = options;
  return localRoute({
    method: 'POST',
    ...facts,
    params: { file: file({ destination: { to: 'files', keep: true, cdn } }) },
    body: multipart,
    rule: 'anyone',
    responseSchema: 'StoredFile',
    reply: (_, { input }) => uploaded(input.file),
  });
}

function uploaded({ id, url, contentType, bytes, sha256 }: UploadedFile): Envelope {
  const extra = { key: id, content_type: contentType, bytes, sha256 };
  return { ...success(url, 'file stored'), extra };
}
