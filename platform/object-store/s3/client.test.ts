import { describe, expect, it } from 'vitest';

import { AppError } from '../../errors.ts';
import { silentLogger } from '../../process/logger.ts';
import { createS3Client, isAbsent, isNotOffered, isOutOfRange, s3Failure } from './client.ts';

const answered = (name: string, httpStatusCode?: unknown) =>
  Object.assign(new Error('what was signed'), { name, $metadata: { httpStatusCode } });

it('the client adds checksums at AWS alone, and names the bucket in the path elsewhere', async () => {
  const facts = async (endpoint: string | null, limits = {}) => {
    const location = { endpoint, bucket: 'b', region: 'eu-west-1', accessKeyId: 'i', secretAccessKey: 's' };
    const { config } = createS3Client(location, silentLogger(), limits);
    const { hostname } = (await config.endpoint?.()) ?? {};
    return [
      config.forcePathStyle,
      await config.requestChecksumCalculation(),
      await config.responseChecksumValidation(),
      await config.maxAttempts(),
      hostname,
    ];
  };
  const aws = [false, 'WHEN_SUPPORTED', 'WHEN_SUPPORTED', 3];
  expect(await facts(null)).toEqual([...aws, undefined]);
  const china = 's3.cn-north-1.amazonaws.com.cn';
  expect(await facts(`https://${china}`)).toEqual([...aws, china]);
  expect(await facts('https://amazonaws.com.example.org', { tries: 1 })).toEqual([
    true,
    'WHEN_REQUIRED',
    'WHEN_REQUIRED',
    1,
    'amazonaws.com.example.org',
  ]);
});

describe('an error of a server', () => {
  it.each([
    [answered('NoSuchKey', 200), { absent: true, range: false, offered: false }],
    [answered('NotFound', 404), { absent: true, range: false, offered: false }],
    [answered('NoSuchBucket', 404), { absent: false, range: false, offered: false }],
    [answered('InvalidRange', 400), { absent: false, range: true, offered: false }],
    [answered('Unknown', 416), { absent: false, range: true, offered: false }],
    [answered('Unknown', 403), { absent: false, range: false, offered: true }],
    [answered('Unknown', 405), { absent: false, range: false, offered: true }],
    [answered('NotImplemented', 501), { absent: false, range: false, offered: true }],
    [answered('Other', 500), { absent: false, range: false, offered: false }],
    [answered('Other', '404'), { absent: false, range: false, offered: false }],
    ['thrown', { absent: false, range: false, offered: false }],
  ])('%s says what is not there', (error, expected) => {
    expect({ absent: isAbsent(error), range: isOutOfRange(error), offered: isNotOffered(error) }).toEqual(
      expected,
    );
  });

  it.each([
    [answered('NoSuchBucket', 404), 'refuses: there is no such bucket: check S3_BUCKET'],
    [answered('SignatureDoesNotMatch', 403), 'refuses: the secret does not fit the access key'],
    [answered('AccessDenied', 403), 'refuses: these keys may not do this'],
    [answered('403', 403), 'refuses: these keys may not do this'],
    [answered('Unknown', 301), 'refuses: the bucket is elsewhere'],
    [answered('UnknownError', 404), 'refuses: there is no such bucket'],
    [answered('InvalidBucketName', 400), 'refuses: there is no such bucket'],
    [answered('InvalidAccessKeyId', 403), 'refuses: the access key is not known there'],
    [answered('Forbidden', 403), 'refuses: these keys may not do this'],
    [answered('AuthorizationHeaderMalformed', 400), 'refuses: the bucket is in another region'],
    [answered('PermanentRedirect', 301), 'refuses: the bucket is elsewhere'],
    [answered('RequestTimeTooSkewed', 403), "refuses: this machine's clock is wrong"],
    [answered('NotFound', 500), 'refuses: it answered HTTP 500'],
    [answered('SlowDown', 403), 'refuses: it answered HTTP 403'],
    [new Error('connect ECONNREFUSED'), 'does not answer: check S3_ENDPOINT'],
  ])('%s names the setting to check', (error, message) => {
    const failure = s3Failure(error);
    expect(failure).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining(message) });
    expect(failure.message).not.toContain('what was signed');
  });

  it('is kept when it is ours or an abort', () => {
    const own = new AppError('NOT_FOUND', 'no');
    const aborted = Object.assign(new Error('x'), { name: 'AbortError' });
    expect([s3Failure(own), s3Failure(aborted)]).toEqual([own, aborted]);
    expect(s3Failure(answered('Secret', 500)).cause).toEqual(new Error('S3 answered HTTP 500 Secret'));
    expect(s3Failure(new TypeError('cut')).cause).toEqual(new Error('TypeError: cut'));
  });
});
