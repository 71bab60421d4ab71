import { describe, expect, it } from 'vitest';

import { createOutboundRule } from '../../../platform/http/safe-url.ts';
import { checkedCallbackUrl } from './callback-url.ts';

const outbound = createOutboundRule({ allow: ['127.0.0.1:4999'] });

describe('a callback address', () => {
  it.each([
    'https://example.org/hook?a=1',
    'http://example.org:8080/',
    'http://127.0.0.1:4999/allowed',
    `https://example.org/${'a'.repeat(1_980)}`,
  ])('may be %s', (url) => {
    expect(checkedCallbackUrl(outbound, url)).toBe(url);
  });

  it.each([
    ['', 'not a URL'],
    ['hook', 'not a URL'],
    ['ftp://example.org/', 'not http or https'],
    ['https://user:secret@example.org/', 'user name'],
    ['http://127.0.0.1/', 'not a public address; the operator can allow it with OUTBOUND_ALLOW=127.0.0.1:80'],
    [
      'https://localhost/',
      'localhost is not a public address; the operator can allow it with OUTBOUND_ALLOW=localhost:443',
    ],
    ['http://127.0.0.1:5000/', 'OUTBOUND_ALLOW=127.0.0.1:5000'],
    ['http://2130706433/', 'not a public address'],
    ['http://169.254.169.254/latest', 'not a public address'],
    ['http://10.1.2.3/', 'not a public address'],
    ['http://[::1]/', 'not a public address'],
    ['http://[::ffff:10.0.0.1]/', 'not a public address'],
    [`https://example.org/${'a'.repeat(1_981)}`, 'at most 2000'],
    [`https://example.org/${'ä'.repeat(500)}`, 'at most 2000'],
  ])('may not be %s: %s', (url, message) => {
    expect(() => checkedCallbackUrl(outbound, url)).toThrow(
      expect.objectContaining({
        code: 'BAD_USER_INPUT',
        field: 'callbackUrl',
        message: expect.stringContaining(message),
      }),
    );
  });
});
