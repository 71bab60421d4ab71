import { success, type Envelope } from '../replies/envelope.ts';
import { file, type UploadedFile } from '../route/params.ts';
import { localRoute, type Section } from '../route/route.ts';
import { healthRoute } from './shared/health.ts';

const multipart = { type: 'multipart/form-data', required: true } as const;

/** Root and file operations. */
export const files: Section = {
  service: 'media',
  title: 'Root and file operations',
  routes: [
    localRoute({
      method: 'GET',
      path: '/',
      params: {},
      rateClass: 'read',
      rule: 'public',
      answers: 'Welcome',
      reply: (_, { settings: { publicUrl, version } }) => {
        const data = { name: 'Kiln', version, docs: `${publicUrl}/docs`, graphql: `${publicUrl}/graphql` };
        return success(data, 'Kiln is running');
      },
    }),
    localRoute({
      method: 'POST',
      path: '/api/file/upload',
      deprecated: true,
      params: { file: file({ destination: { to: 'files', keep: true, cdn: false } }) },
      body: multipart,
      rateClass: 'start',
      rule: 'anyone',
      answers: 'StoredFile',
      reply: (_, { input }) => uploaded(input.file),
    }),
    localRoute({
      method: 'POST',
      path: '/api/file/upload/s3',
      params: { file: file({ destination: { to: 'files', keep: true, cdn: true } }) },
      body: multipart,
      rateClass: 'start',
      rule: 'anyone',
      answers: 'StoredFile',
      reply: (_, { input }) => uploaded(input.file),
    }),
    healthRoute('/api/file/health'),
  ],
};

function uploaded({ id, url, contentType, bytes, sha256 }: UploadedFile): Envelope {
  const extra = { key: id, content_type: contentType, bytes, sha256 };
  return { ...success(url, 'file stored'), extra };
}
