import { expect, it } from 'vitest';

import { signedHeaders, type RequestToSign } from './request.ts';

/** The expected signatures were computed with base/sign.go of volcengine/volc-sdk-golang at commit 26924eb5. */

const date = new Date('2025-01-02T03:04:05Z');
const signer = (service: string) => ({
  accessKey: 'AKLTexample',
  secretKey: 'c2VjcmV0LWV4YW1wbGU=',
  service,
  region: 'cn-north-1',
});
const FORM = 'application/x-www-form-urlencoded';

const requests: readonly [string, string, Omit<RequestToSign, 'date'>, string][] = [
  [
    'a JSON body',
    'cv',
    {
      method: 'POST',
      url: 'https://visual.volcengineapi.com/?Version=2022-08-31&Action=CVSubmitTask',
      contentType: 'application/json',
      body: '{"req_key":"jimeng_realman_avatar_picture_create_role_omni_v15","image_url":"https://example.org/a.png"}',
    },
    'f842c90c2fe17b1c865637bd0bfd0282ec4d681e80cd11ebab50df3e902663d6',
  ],
  [
    'a query of signs that must be escaped',
    'vod',
    {
      method: 'GET',
      url: `https://vod.volcengineapi.com/?Version=2020-08-01&Action=QueryUploadTaskInfo&JobIds=${encodeURIComponent('a b*c~d/e+f(é)')}`,
      contentType: `${FORM}; charset=utf-8`,
      body: '',
    },
    '4bc1a8b120e09ddb48d4daaa7f7f9bec4f0bc579b791b30174960f27e590b288',
  ],
  [
    'a form, a path and a port',
    'vod',
    {
      method: 'POST',
      url: 'http://127.0.0.1:8080/volcengine-vod/?Action=UploadMediaByUrl&Version=2020-08-01',
      contentType: FORM,
      body: 'SpaceName=s+p&URLSets=%5B%7B%22SourceUrl%22%3A%22https%3A%2F%2Fexample.org%2Fv.mp4%3Fa%3D1%26b%3D2%22%7D%5D',
    },
    '948f1ff28f3b7469e1372726f57ec3b9409e92a97a07d3f4b0254ea4d9a80602',
  ],
];

it.each(requests)('signs %s as the vendor’s SDK does', (_what, service, request, signature) => {
  const { authorization, ...others } = signedHeaders({ ...request, date }, signer(service));
  expect(authorization).toBe(
    `HMAC-SHA256 Credential=AKLTexample/20250102/cn-north-1/${service}/request, ` +
      `SignedHeaders=content-type;host;x-content-sha256;x-date, Signature=${signature}`,
  );
  expect(others).toEqual({
    'x-date': '20250102T030405Z',
    'x-content-sha256': expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
