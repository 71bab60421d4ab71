import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { ConfigError, toPublicUrl, readConfig, readGatewayFileAgain, settingsTable } from './config.ts';
import { anyModel, httpAddresses, namedValues, natsAddresses, redisAddress } from './settings/formats.ts';

function readProblems(
  environment: Record<string, string>,
  commandLine: string[] = [],
): Record<string, string> {
  try {
    readConfig(environment, commandLine);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return Object.fromEntries(error.problems.map(({ setting, message }) => [setting, message]));
  }
  return {};
}

const SECRET = 'a-secret-that-is-long-enough-for-everyone';

test('UPLOAD_QUOTAS changes the classes that it names', () => {
  const readQuotas = (UPLOAD_QUOTAS: string) => readConfig({ UPLOAD_QUOTAS }).limits.uploadQuotas;
  const [anonymous, user] = [
    { bytes: 5, files: 2 },
    { bytes: 107_374_182_400, files: 10_000 },
  ];
  expect(readQuotas('anonymous=5/2')).toEqual({ anonymous, user, key: { bytes: 0, files: 0 } });
  expect(readQuotas('anonymous=5/2, key = 7/3')).toEqual({ anonymous, user, key: { bytes: 7, files: 3 } });
  expect(readProblems({ UPLOAD_QUOTAS: 'everybody=1/1' })['UPLOAD_QUOTAS']).toContain('must be a list');
});

test('LEGACY_JWKS holds until its day has ended', () => {
  const parts = ['issuer=https://old.example.org', 'audience=old-api', 'jwks=https://old.example.org/jwks'];
  const { legacyTokens } = readConfig({ LEGACY_JWKS: [...parts, 'until=2030-01-31'].join(',') }).signIn;
  expect(legacyTokens?.until).toEqual(new Date('2030-02-01T00:00:00Z'));
  for (const wrong of [parts, [...parts, 'until=soon'], [...parts, 'until=2030-01-31', 'more=1']]) {
    expect(readProblems({ LEGACY_JWKS: wrong.join(',') })['LEGACY_JWKS']).toContain('until=YYYY-MM-DD');
  }
});

describe('the defaults', () => {
  test('serve everything embedded, on loopback, open, with a sandbox', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      production: false,
      role: 'all',
      server: { host: '127.0.0.1', port: 4000, publicUrl: null, trustProxy: [], corsOrigins: 'any' },
      data: { dir: path.resolve('.kiln'), databaseUrl: null },
      auth: { mode: 'open', isChosen: false, serviceKeys: [], adminSubjects: [] },
      limits: {
        rate: { status: 6000, read: 1200, start: 120, write: 600, 'sign-in': 120 },
        callerRates: [],
        uploadMaxBytes: 1_073_741_824,
        syncMaxWaitSeconds: 500,
        queueMaxHours: 24,
        uploadQuotas: { anonymous: { files: 1_000 }, user: { files: 10_000 }, key: { bytes: 0, files: 0 } },
      },
      files: {
        urlTtlSeconds: 0,
        ffmpeg: null,
        mediaRetentionDays: 0,
        eventRetentionDays: 30,
        s3: null,
        cdnBaseUrl: null,
      },
      providers: {
        generatorsFile: null,
        pricesFile: null,
        openai: null,
        gemini: null,
        kling: null,
        minimax: null,
        comfyui: null,
        midjourney: null,
        aggregator: null,
      },
      signIn: { wechat: null, douyin: null, alipay: null },
      sandbox: { url: null },
      log: { level: 'info' },
    });
  });

  test('stand for every empty setting', () => {
    const empty = Object.fromEntries(settingsTable().map(({ name }) => [name, ' ']));
    expect(readConfig(empty)).toEqual(readConfig({}));
  });
});

describe('problems', () => {
  test('are told all at once, each with its setting and remedy, and never with the value', () => {
    const problems = readProblems({
      KILN_ENV: 'staging',
      PORT: '70000',
      PUBLIC_URL: 'kiln.example.org',
      DATABASE_URL: 'mysql://root:hunter2@db/kiln',
      INTERNAL_KEY: 'hunter2',
      SERVICE_KEYS: 'shop=hunter2',
      RATE_LIMIT: 'starts=5',
      RATE_LIMIT_CALLERS: 'shop start=5',
      OUTBOUND_ALLOW: 'localhost',
      TRUST_PROXY: '10.0.0.0/99',
      LOG_LEVEL: 'loud',
      UPLOAD_MAX_BYTES: '0',
    });
    expect(Object.keys(problems)).toEqual([
      'KILN_ENV',
      'PORT',
      'PUBLIC_URL',
      'DATABASE_URL',
      'INTERNAL_KEY',
      'SERVICE_KEYS',
      'TRUST_PROXY',
      'RATE_LIMIT',
      'RATE_LIMIT_CALLERS',
      'UPLOAD_MAX_BYTES',
      'OUTBOUND_ALLOW',
      'LOG_LEVEL',
    ]);
    expect(problems['PORT']).toBe('must be a whole number from 0 to 65535');
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test('of the apps of mini-programs are told of each platform', () => {
    const problems = readProblems({
      REST_AUTH: 'open',
      WECHAT_APPS: 'wx1=one,wx1=two',
      DOUYIN_APPS: ' , ',
      ALIPAY_BASE_URL: 'https://openapi.alipay.com',
    });
    expect(problems).toEqual({
      WECHAT_APPS: 'names an app twice: keep one of them',
      DOUYIN_APPS: 'names no app: unset it',
      ALIPAY_APPS: expect.stringContaining('is needed with ALIPAY_BASE_URL'),
    });
  });

  test('of the command line are named by their word', () => {
    expect(readProblems({}, ['--port', '80', '--supergraph', 'x.graphql'])).toEqual({
      '--port': expect.stringContaining('not known'),
      '80': expect.stringContaining('not known'),
      '--supergraph': 'is for the gateway alone: add --role gateway',
    });
    expect(readProblems({}, ['--role'])['--role']).toBe('needs a value');
    expect(readProblems({}, ['--constructor=x'])).toEqual({
      '--constructor': expect.stringContaining('not known'),
    });
    expect(readProblems({}, ['--role', 'king'])['ROLE']).toContain('must be all, gateway');
  });
});

describe('database addresses', () => {
  test.each([
    'postgres://kiln:secret@db:5432/kiln',
    'postgresql:///kiln?host=/var/run/postgresql',
    'postgres://kiln@/kiln?host=/var/run/postgresql',
    'postgresql://kiln@%2Fvar%2Frun%2Fpostgresql/kiln',
  ])('%s is taken', (address) => {
    expect(readConfig({ DATABASE_URL: address }).data.databaseUrl).toBe(address);
  });
});

describe('who may call', () => {
  test.each([
    [{ HOST: '0.0.0.0' }, 'HOST is not a loopback address'],
    [{ OPENAI_API_KEY: 'sk-real' }, 'OPENAI_API_KEY is set'],
    [{ MIDJOURNEY_BASE_URL: 'https://mj.example.org' }, 'MIDJOURNEY_BASE_URL is set'],
    [{ GEMINI_API_KEY: 'g' }, 'GEMINI_API_KEY is set'],
    [{ KLING_API_KEY: 'k' }, 'KLING_API_KEY is set'],
    [{ KLING_ACCESS_KEY: 'a', KLING_SECRET_KEY: 's' }, 'KLING_ACCESS_KEY is set'],
    [{ MINIMAX_API_KEY: 'm' }, 'MINIMAX_API_KEY is set'],
    [{ COMFYUI_URLS: 'http://127.0.0.1:8188' }, 'COMFYUI_URLS is set'],
    [{ KILN_ENV: 'production' }, 'this is production'],
    [{ NODE_ENV: 'production' }, 'this is production'],
  ])('must be chosen with %j', (environment, reason) => {
    expect(readProblems(environment)['REST_AUTH']).toContain(reason);
    const people = { IDP_ISSUER: 'https://id.example.org', IDP_CLIENT_ID: 'kiln' };
    expect(readConfig({ ...environment, ...people, REST_AUTH: 'compat' }).auth).toMatchObject({
      mode: 'compat',
      isChosen: true,
    });
  });

  test.each(['compat', 'required'])(
    'may not be %s where the sandbox signs anybody in and money is real',
    (mode) => {
      const real = { OPENAI_API_KEY: 'sk-real', REST_AUTH: mode };
      const people = { IDP_ISSUER: 'https://id.example.org', IDP_CLIENT_ID: 'kiln' };
      expect(readProblems(real)['IDP_ISSUER']).toContain(`REST_AUTH=${mode} and OPENAI_API_KEY`);
      expect(readProblems({ ...real, ...people })).toEqual({});
      expect(readProblems({ ...real, KILN_ENV: 'production' })).toEqual({});
      expect(readProblems({ REST_AUTH: mode })).toEqual({});
      expect(readProblems({ ...real, REST_AUTH: 'open' })).toEqual({});
    },
  );

  test.each([
    [{}, true],
    [{ REST_AUTH: 'required' }, true],
    [{ OPENAI_API_KEY: 'sk-real', REST_AUTH: 'open' }, false],
    [{ HOST: '0.0.0.0', REST_AUTH: 'compat' }, false],
    [{ KILN_ENV: 'demo', HOST: '0.0.0.0' }, false],
    [{ KILN_ENV: 'production', REST_AUTH: 'required' }, false],
  ])('with %j all is embedded: %s', (environment, isAllEmbedded) => {
    expect(readConfig(environment).auth.isAllEmbedded).toBe(isAllEmbedded);
  });

  test('need not be chosen in a demo on any address, until something real is configured', () => {
    const demo = { KILN_ENV: 'demo', HOST: '0.0.0.0' };
    expect(readConfig(demo)).toMatchObject({ demo: true, production: false, auth: { mode: 'open' } });
    expect(readProblems({ ...demo, OPENAI_API_KEY: 'sk-real' })['REST_AUTH']).toContain(
      'OPENAI_API_KEY is set',
    );
  });

  // Credentials and addresses that name nobody outside who is paid, worked for or signed in.
  const OWN =
    /^(?:INTERNAL_KEY|WEBHOOK_SECRET|S3_.*|IDP_CLIENT_SECRET|METRICS_KEY|COMFYUI_API_KEY|ALIPAY_APPS)$/;
  const outside = settingsTable()
    .map(({ name }) => name)
    .filter((name) => /_(?:KEY|TOKEN|SECRET|URLS|APPS|ISSUER)$/.test(name) && !OWN.test(name));

  test.each(outside)('must be chosen with %s, as with every credential for something real', (name) => {
    const value = /URLS|ISSUER/.test(name)
      ? 'https://real.example.org'
      : /APPS/.test(name)
        ? 'app=secret'
        : 'sk_test_1';
    expect(readProblems({ [name]: value })['REST_AUTH']).toContain(`${name} is set`);
  });

  test('need not be chosen for a worker, which answers nobody', () => {
    const config = readConfig({ KILN_ENV: 'production', INTERNAL_KEY: SECRET }, ['--role', 'worker']);
    expect(config.role).toBe('worker');
  });

  test('is read from service keys and administrators', () => {
    const sha256 = 'AB'.repeat(32);
    const { auth } = readConfig({
      SERVICE_KEYS: `shop=${sha256}, `,
      ADMIN_SUBJECTS: 'https://id.example.org|42',
    });
    expect(auth.serviceKeys).toEqual([{ name: 'shop', sha256: sha256.toLowerCase() }]);
    expect(auth.adminSubjects).toEqual([{ issuer: 'https://id.example.org', subject: '42' }]);
  });
});

describe('a split system', () => {
  test('needs the key that its processes share', () => {
    expect(readProblems({ ROLE: 'media' })['INTERNAL_KEY']).toContain('is needed when processes are split');
    expect(readProblems({ MEDIA_URL: 'http://media:4001' })['INTERNAL_KEY']).toContain('is needed');
    const config = readConfig({ ROLE: 'gateway', INTERNAL_KEY: SECRET }, ['--role', 'media']);
    expect(config).toMatchObject({ role: 'media', server: { port: 4001 }, split: { internalKey: SECRET } });
  });

  test('needs no key when the gateway only serves a supergraph file', () => {
    const config = readConfig({}, ['--role', 'gateway', '--supergraph=other.graphql']);
    expect(config.split.supergraphFile).toBe(path.resolve('other.graphql'));
  });
});

describe('production', () => {
  test('has no sandbox and no foreign browser origins', () => {
    const config = readConfig({ KILN_ENV: 'production', REST_AUTH: 'required' });
    expect(config).toMatchObject({ production: true, sandbox: null, server: { corsOrigins: [] } });
    expect(
      readProblems({ KILN_ENV: 'production', REST_AUTH: 'open', SANDBOX_URL: 'http://box:1' }),
    ).toHaveProperty('SANDBOX_URL');
  });

  test('demands the key that signs expiring file addresses', () => {
    expect(readProblems({ KILN_ENV: 'production', REST_AUTH: 'open', FILES_URL_TTL: '60' })).toHaveProperty(
      'INTERNAL_KEY',
    );
  });
});

describe('providers', () => {
  test('are present as soon as they are configured', () => {
    const { providers } = readConfig({
      REST_AUTH: 'open',
      OPENAI_API_KEY: 'k',
      MIDJOURNEY_BASE_URL: 'http://mj:8080/',
      AGG_BASE_URL: 'https://agg.example.org/v1',
      AGG_API_KEY: 'a',
      GEMINI_API_KEY: 'g',
      KLING_ACCESS_KEY: 'ak',
      KLING_SECRET_KEY: 'sk',
      MINIMAX_API_KEY: 'm',
      MINIMAX_GROUP_ID: '42',
      COMFYUI_URLS: 'http://a:8188/, https://b.example.org',
    });
    expect(providers).toMatchObject({
      gemini: { apiKey: 'g', baseUrl: 'https://generativelanguage.googleapis.com/v1beta' },
      kling: {
        login: { accessKey: 'ak', secretKey: 'sk' },
        baseUrl: 'https://api-singapore.klingai.com',
      },
      minimax: { apiKey: 'm', groupId: '42', baseUrl: 'https://api.minimax.io' },
      comfyui: { urls: ['http://a:8188', 'https://b.example.org'], apiKey: null },
      openai: { apiKey: 'k', baseUrl: 'https://api.openai.com/v1' },
      midjourney: { baseUrl: 'http://mj:8080', secret: null },
      aggregator: { baseUrl: 'https://agg.example.org/v1', apiKey: 'a' },
    });
  });

  test('of the credentials alone are asked at their vendors, else where their settings say', () => {
    const keys = {
      REST_AUTH: 'open',
      HIGGSFIELD_KEY: 'i:s',
      VOLCENGINE_ACCESS_KEY: 'a',
      VOLCENGINE_SECRET_KEY: 's',
      FAL_KEY: 'f',
      REPLICATE_API_TOKEN: 'r',
      ARK_API_KEY: 'k',
    };
    const addresses = (settings: Record<string, string>) => {
      const { higgsfield, volcengine, fal, replicate, ark } = readConfig({ ...keys, ...settings }).providers;
      const { restBaseUrl, schemaBaseUrl } = fal ?? {};
      const others = [higgsfield, volcengine, fal, replicate, ark].map((one) => one?.baseUrl);
      return [...others, volcengine?.vodBaseUrl, restBaseUrl, schemaBaseUrl];
    };
    expect(addresses({})).toEqual([
      'https://api.higgsfield.ai',
      'https://visual.volcengineapi.com',
      'https://queue.fal.run',
      'https://api.replicate.com/v1',
      'https://ark.cn-beijing.volces.com/api/v3',
      'https://vod.volcengineapi.com',
      'https://rest.fal.ai',
      'https://fal.ai',
    ]);
    const names = [
      'HIGGSFIELD',
      'VOLCENGINE',
      'FAL',
      'REPLICATE',
      'ARK',
      'VOLCENGINE_VOD',
      'FAL_REST',
      'FAL_SCHEMA',
    ];
    const own = names.map((name) => [
      `${name}_BASE_URL`,
      `https://${name.toLowerCase().replace('_', '-')}.test`,
    ]);
    expect(addresses(Object.fromEntries(own) as Record<string, string>)).toEqual(own.map(([, url]) => url));
  });

  test('are not half-configured', () => {
    const problems = readProblems({ REST_AUTH: 'open', MIDJOURNEY_SECRET: 's', AGG_API_KEY: 'a' });
    expect(Object.keys(problems)).toEqual(['MIDJOURNEY_BASE_URL', 'AGG_BASE_URL']);
    const halves = readProblems({
      REST_AUTH: 'open',
      KLING_ACCESS_KEY: 'a',
      GEMINI_BASE_URL: 'http://g',
      MINIMAX_GROUP_ID: '42',
      COMFYUI_API_KEY: 'c',
    });
    expect(halves).toEqual({
      GEMINI_API_KEY: expect.stringContaining('with GEMINI_BASE_URL'),
      KLING_SECRET_KEY: expect.stringContaining('with KLING_ACCESS_KEY'),
      MINIMAX_API_KEY: expect.stringContaining('with MINIMAX_GROUP_ID'),
      COMFYUI_URLS: expect.stringContaining('with COMFYUI_API_KEY'),
    });
    const both = { KLING_ACCESS_KEY: 'a', KLING_SECRET_KEY: 's', KLING_API_KEY: 'k', REST_AUTH: 'open' };
    expect(readProblems(both)).toEqual({ KLING_API_KEY: expect.stringContaining('unset one') });
  });

  test('of Hedra speak its API v3 unless the address says the older one, whose keys have no colon', () => {
    const readHedra = (settings: Record<string, string>) =>
      readConfig({ REST_AUTH: 'open', ...settings }).providers.hedra;
    const older = 'https://api.hedra.com/web-app';
    expect(readHedra({ HEDRA_API_KEY: 'id:secret' })).toEqual({
      apiKey: 'id:secret',
      baseUrl: 'https://api.hedra.com/v3',
      isOlderApi: false,
    });
    expect(readHedra({ HEDRA_API_KEY: 'k', HEDRA_BASE_URL: older })).toEqual({
      apiKey: 'k',
      baseUrl: older,
      isOlderApi: true,
    });
    expect(readProblems({ REST_AUTH: 'open', HEDRA_API_KEY: 'k' })).toEqual({
      HEDRA_API_KEY: expect.stringContaining(`HEDRA_BASE_URL=${older}`),
    });
  });

  test('of a bindings file come with its text and only the variables that it refers to', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'kiln-config-'));
    const file = path.join(directory, 'generators.json');
    try {
      writeFileSync(file, '{"x": [{"headers": {"authorization": "Bearer ${MY_KEY} ${NOT_SET}"}}]}');
      const environment = { REST_AUTH: 'open', GENERATORS_FILE: file, MY_KEY: 'm', OTHER_KEY: 'o' };
      expect(readConfig(environment).providers.generatorsFile).toEqual({
        path: file,
        text: expect.stringContaining('"x"'),
        variables: { MY_KEY: 'm' },
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
    expect(readProblems({ REST_AUTH: 'open', GENERATORS_FILE: file })['GENERATORS_FILE']).toContain(
      "can't be read",
    );
  });
});

test('FALLBACK_MEDIA_URL may not lead back to Kiln', () => {
  const address = 'https://media.example.org';
  const own = { PUBLIC_URL: address, FALLBACK_MEDIA_URL: `${address}/` };
  expect(() => readConfig(own)).toThrow('FALLBACK_MEDIA_URL is PUBLIC_URL itself');
  expect(readConfig({ ...own, FALLBACK_MEDIA_URL: `${address}/old` }).fallback.media).toBe(`${address}/old`);
});

test('WORKFLOW_NAMES maps names to ours, with fixed parameters, and tells every mistake', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'kiln-config-'));
  const file = path.join(directory, 'names.json');
  try {
    writeFileSync(
      file,
      '{"flux": "image", "i2v": {"workflow": "video", "parameters": {"aspectRatio": "9:16"}}}',
    );
    expect(readConfig({ WORKFLOW_NAMES: file }).workflowNames).toEqual({
      flux: { workflow: 'image', parameters: {} },
      i2v: { workflow: 'video', parameters: { aspectRatio: '9:16' } },
    });
    writeFileSync(file, '{"flux": "images", "i2v": {"workflow": "video", "model": "x"}}');
    const problems = readProblems({ WORKFLOW_NAMES: file })['WORKFLOW_NAMES'];
    expect(problems).toContain('flux');
    expect(problems).toContain('i2v');
    writeFileSync(file, `{"flux": "image"}${' '.repeat(1024 * 1024)}`);
    expect(readProblems({ WORKFLOW_NAMES: file })['WORKFLOW_NAMES']).toContain('more than 1048576 bytes');
  } finally {
    rmSync(directory, { recursive: true });
  }
  expect(readProblems({ WORKFLOW_NAMES: file })['WORKFLOW_NAMES']).toContain("can't be read");
});

describe('a bucket', () => {
  const keys = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'hunter2' };
  const bucket = { S3_BUCKET: 'kiln', ...keys };

  test('is at AWS with a region, or at another server, which may do without', () => {
    const at = { bucket: 'kiln', accessKeyId: 'id', secretAccessKey: 'hunter2' };
    expect(readConfig({ ...bucket, S3_REGION: 'eu-west-1' }).files.s3).toEqual({
      ...at,
      endpoint: null,
      region: 'eu-west-1',
    });
    expect(readConfig({ ...bucket, S3_ENDPOINT: 'https://s3.example.org/' }).files.s3).toEqual({
      ...at,
      endpoint: 'https://s3.example.org',
      region: 'us-east-1',
    });
  });

  test('is not half-configured, and its secret is not repeated', () => {
    expect(readProblems({ S3_ENDPOINT: 'https://s3.example.org', S3_SECRET_ACCESS_KEY: 'hunter2' })).toEqual({
      S3_BUCKET: expect.stringContaining('is needed with S3_ENDPOINT, S3_SECRET_ACCESS_KEY'),
      S3_ACCESS_KEY_ID: expect.stringContaining('is needed'),
    });
    expect(readProblems(bucket)).toEqual({ S3_REGION: expect.stringContaining('S3_ENDPOINT') });
    const wrong = { ...keys, S3_BUCKET: 'My Bucket', S3_ENDPOINT: 'https://id:hunter2@s3.example.org' };
    const problems = readProblems(wrong);
    expect(Object.keys(problems)).toEqual(expect.arrayContaining(['S3_ENDPOINT', 'S3_BUCKET']));
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test('goes with a CDN, whose addresses never expire', () => {
    const cdn = { CDN_BASE_URL: 'https://cdn.example.org/' };
    expect(readConfig(cdn).files.cdnBaseUrl).toBe('https://cdn.example.org');
    expect(readProblems({ ...cdn, FILES_URL_TTL: '60' })).toEqual({
      CDN_BASE_URL: expect.stringContaining('FILES_URL_TTL'),
    });
  });
});

describe('lists', () => {
  test('may end with a comma', () => {
    const config = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, ,tenant=a,',
      TRUST_PROXY: '10.0.0.0/8, ,::1,',
    });
    expect(config.tracing).toMatchObject({
      headers: { authorization: 'Bearer x', tenant: 'a' },
    });
    expect(config.server.trustProxy).toEqual(['10.0.0.0/8', '::1']);
  });

  test('are split at commas and normalised', () => {
    const config = readConfig({
      OUTBOUND_ALLOW: 'LOCALHOST:8080,[::1]:443',
      TRUST_PROXY: '10.0.0.0/8, ::1',
      CORS_ORIGINS: 'https://a.example.org,http://localhost:3000/',
      RATE_LIMIT: 'start=5',
      RATE_LIMIT_CALLERS: 'key_shop start=9, write=8 ; 10.0.0.0/8 off',
    });
    expect(config.outbound.allow).toEqual(['localhost:8080', '[::1]:443']);
    expect(config.server.trustProxy).toEqual(['10.0.0.0/8', '::1']);
    expect(config.server.corsOrigins).toEqual(['https://a.example.org', 'http://localhost:3000']);
    expect(config.limits.rate).toEqual({
      status: 6000,
      read: 1200,
      start: 5,
      write: 600,
      'sign-in': 120,
      plan: 600,
    });
    expect(config.limits.callerRates).toEqual([
      { caller: 'key_shop', limits: { start: 9, write: 8 } },
      { caller: '10.0.0.0/8', limits: null },
    ]);
    expect(readConfig({ RATE_LIMIT: 'off' }).limits.rate).toBeNull();
    expect(readProblems({ RATE_LIMIT: 'off', RATE_LIMIT_CALLERS: 'key_shop start=9' })).toHaveProperty(
      'RATE_LIMIT_CALLERS',
    );
    expect(readProblems({ RATE_LIMIT: 'off', RATE_LIMIT_CALLERS: '10.0.0.0/8 off' })).toEqual({});
  });
});

test('the public address is the listening one until another is given', () => {
  const { server } = readConfig({});
  expect(toPublicUrl(server, 4321)).toBe('http://127.0.0.1:4321');
  expect(toPublicUrl({ ...server, host: '::' }, 1)).toBe('http://localhost:1');
  expect(toPublicUrl({ ...server, host: '::1' }, 1)).toBe('http://[::1]:1');
  expect(toPublicUrl({ ...server, publicUrl: 'https://k.example.org/kiln' }, 1)).toBe(
    'https://k.example.org/kiln',
  );
});

test('.env.example lists exactly the settings, with their defaults and meanings', () => {
  const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  const expected = settingsTable().map(({ name, default: standard, meaning }) => {
    return `# ${meaning} (default: ${standard})\n# ${name}=\n`;
  });
  expect(example.split(/\n\n/).slice(1).join('\n\n')).toBe(expected.join('\n'));
});

describe('WEBHOOK_SECRET', () => {
  test('is whsec_ and 24 to 64 bytes in base64', () => {
    const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
    for (const bytes of [24, 32, 64]) {
      expect(readConfig({ WEBHOOK_SECRET: secret(bytes) }).webhooks.secret).toBe(secret(bytes));
    }
    expect(readConfig({}).webhooks.secret).toBeNull();
    for (const wrong of [secret(23), secret(65), SECRET, secret(32).slice(6), secret(32).slice(0, -1)]) {
      const message = readProblems({ WEBHOOK_SECRET: wrong })['WEBHOOK_SECRET'];
      expect(message).toContain('must be whsec_ and 24 to 64 bytes in base64');
      expect(message).not.toContain(wrong);
    }
  });
});

describe('the format of a setting', () => {
  test.each([
    [
      'redis',
      redisAddress,
      ['redis://host', 'rediss://u:p@host:6380/15', 'redis://host/'],
      [
        'http://host',
        'redis:///0',
        'redis://host/db',
        'redis://host/12345',
        'redis://host/0?x=1',
        'redis://host/0#x',
        'host:6379',
      ],
    ],
    [
      'nats',
      natsAddresses,
      ['nats://host:4222', 'tls://a,tls://b', 'nats://a/kiln,nats://b/kiln'],
      [
        'http://host',
        'nats:///x',
        'nats://a/kiln,nats://b',
        'nats://a/x/y',
        'nats://a?x=1',
        'nats://a#x',
        'a:4222',
      ],
    ],
    [
      'http addresses',
      httpAddresses,
      ['http://a', 'http://a/x,https://b/x'],
      ['http://a,http://b/x', 'ftp://a', 'http://u@a', 'http://a?x', 'a'],
    ],
  ] as const)('%s takes what it should', (_, format, good, wrong) => {
    for (const value of good) expect([value, format.safeParse(value).success]).toEqual([value, true]);
    for (const value of wrong) expect([value, format.safeParse(value).success]).toEqual([value, false]);
  });

  test('models are all, none, or those that patterns name', () => {
    const read = (value: string) => anyModel.safeParse(value).data;
    expect([read('on'), read('off'), read('fal-ai/*, lab/paper:v1')]).toEqual([
      ['*'],
      [],
      ['fal-ai/*', 'lab/paper:v1'],
    ]);
    expect([read('two words'), read(''), read('x'.repeat(4_001)), read('x'.repeat(4_000))?.length]).toEqual([
      undefined,
      undefined,
      undefined,
      1,
    ]);
  });

  test('named values are pairs, percent-encoded', () => {
    const read = (value: string) => namedValues.safeParse(value).data;
    expect(read(' a = 1 ,b=x%2Cy=z, ')).toEqual({ a: '1', b: 'x,y=z' });
    expect([read(''), read('a'), read('=1'), read('a=%')]).toEqual([{}, undefined, undefined, undefined]);
  });
});

describe('settings that depend on each other', () => {
  const people = { IDP_ISSUER: 'http://id.example.org', IDP_CLIENT_ID: 'kiln' };
  const live = { KILN_ENV: 'production', REST_AUTH: 'required' };
  const others = ['--role', 'gateway', '--supergraph', 'x.graphql'];
  const paid = { REST_AUTH: 'open', STRIPE_WEBHOOK_SECRETS: 'whsec_1' };

  test.each<[Record<string, string>, string[], Record<string, string>]>([
    [{ RATE_COUNTS: 'database' }, others, { RATE_COUNTS: 'database needs DATABASE_URL' }],
    [{ RATE_COUNTS: 'database', DATABASE_URL: 'postgres://db/kiln' }, others, {}],
    [{ RATE_COUNTS: 'database' }, [], {}],
    [{ RATE_COUNTS: 'process' }, others, {}],
    [
      { FALLBACK_WORKFLOW_URL: 'https://w.example.org', PUBLIC_URL: 'https://w.example.org' },
      [],
      { FALLBACK_WORKFLOW_URL: 'is PUBLIC_URL itself' },
    ],
    [{ FALLBACK_WORKFLOW_URL: 'https://w.example.org' }, [], {}],
    [{ PROCESSES: '2', INTERNAL_KEY: SECRET }, ['--role', 'media'], { PROCESSES: 'of role media' }],
    [{ PROCESSES: '1', INTERNAL_KEY: SECRET }, ['--role', 'media'], {}],
    [{ PROCESSES: '2' }, [], { PROCESSES: 'needs SANDBOX_URL in development' }],
    [{ PROCESSES: '2', SANDBOX_URL: 'http://box:1' }, [], {}],
    [{ PROCESSES: '2', ...live }, [], {}],
    [{ PROCESSES: '2' }, others, {}],
    [{}, ['--config', 'none.json'], { '--config': "can't be read" }],
    [{}, [...others, '--subgraphs', 'y.json'], { '--subgraphs': 'keep one of them' }],
    [{}, ['--subgraphs', 'y.json'], { '--subgraphs': 'is for the gateway alone' }],
    [{}, ['--subgraphs', 'y.json', '--role', 'gateway'], {}],
    [{ SHARED_READS: 'shop' }, [], { SHARED_READS: 'is for subgraphs of --supergraph' }],
    [{ SHARED_READS: 'shop' }, others, {}],
    [{ WORKFLOW_URL: 'http://w:1' }, [], { INTERNAL_KEY: 'is needed when processes are split' }],
    [{ MEDIA_URL: 'http://m:1' }, others, { INTERNAL_KEY: 'is needed when processes are split' }],
    [{ FILES_URL_TTL: '60' }, [], {}],
    [{ FILES_URL_TTL: '60', INTERNAL_KEY: SECRET, ...live }, [], {}],
    [{ IDP_CLIENT_ID: 'kiln', IDP_AUDIENCES: 'a' }, [], { IDP_ISSUER: 'with IDP_CLIENT_ID, IDP_AUDIENCES:' }],
    [{ REST_AUTH: 'open', IDP_ISSUER: 'http://id' }, [], { IDP_CLIENT_ID: 'is needed with IDP_ISSUER' }],
    [
      { REST_AUTH: 'open', ...people, IDP_TOKEN_URL: 'http://id/token' },
      [],
      { IDP_AUTHORIZATION_URL: 'the other two', IDP_USERINFO_URL: 'the other two' },
    ],
    [{ REST_AUTH: 'open', ...people }, [], {}],
    [{ ...live, ...people }, [], { IDP_ISSUER: 'must be an https:// address in production' }],
    [
      {
        ...live,
        ...people,
        IDP_ISSUER: 'https://id',
        LEGACY_JWKS: 'issuer=https://o,audience=a,jwks=http://o/j,until=2030-01-31',
      },
      [],
      { LEGACY_JWKS: 'must have its jwks at an https:// address' },
    ],
    [
      { REST_AUTH: 'open', KLING_BASE_URL: 'http://k' },
      [],
      { KLING_API_KEY: 'are needed with KLING_BASE_URL' },
    ],
    [{ REST_AUTH: 'open', KLING_BASE_URL: 'http://k', KLING_API_KEY: 'k' }, [], {}],
    [{ REST_AUTH: 'open', KLING_API_KEY: 'k', KLING_SECRET_KEY: 's' }, [], { KLING_API_KEY: 'unset one' }],
    [
      { STRIPE_WEBHOOK_SECRETS: 'whsec_1' },
      [],
      { STRIPE_SECRET_KEY: 'is needed with STRIPE_WEBHOOK_SECRETS' },
    ],
    [
      { REST_AUTH: 'open', STRIPE_SECRET_KEY: 'sk_test_1' },
      [],
      { STRIPE_WEBHOOK_SECRETS: 'is needed with STRIPE_SECRET_KEY' },
    ],
    [{ ...paid, STRIPE_SECRET_KEY: 'sk_test_1' }, [], {}],
    [{ ...paid, STRIPE_SECRET_KEY: 'rk_live_1' }, [], { PP_LIVE: 'must be true with a live' }],
    [{ ...paid, STRIPE_SECRET_KEY: 'sk_live_1', PP_LIVE: 'true' }, [], {}],
    [{ SANDBOX_AUTO_PAY: 'true' }, [], {}],
    [{ ...live, SANDBOX_AUTO_PAY: 'false' }, [], {}],
    [{ ...live, SANDBOX_AUTO_PAY: 'true' }, [], { SANDBOX_AUTO_PAY: 'is for the sandbox alone' }],
    [
      { ...paid, STRIPE_SECRET_KEY: 'sk_test_1', SANDBOX_AUTO_PAY: 'true' },
      [],
      { SANDBOX_AUTO_PAY: 'is for the sandbox alone' },
    ],
    [{ HOST: '127.9.9.9' }, [], {}],
    [{ HOST: '::1' }, [], {}],
    [{ HOST: 'localhost' }, [], {}],
    [{ HOST: '127.example.org' }, [], { REST_AUTH: 'HOST is not a loopback address' }],
    [{ ...live, INTERNAL_KEY: SECRET, OPENAI_API_KEY: 'k', REST_AUTH: 'compat' }, [], {}],
    [{ OPENAI_API_KEY: 'k', INTERNAL_KEY: SECRET, REST_AUTH: 'compat' }, ['--role', 'worker'], {}],
  ])('%o with %j are told %o', (environment, words, expected) => {
    const problems = readProblems(environment, words);
    const told =
      Object.keys(expected).length === 0
        ? Object.entries(problems)
        : Object.keys(expected).map((name) => [name, problems[name]]);
    const parts = Object.entries(expected).map(([name, part]) => [name, expect.stringContaining(part)]);
    expect(told).toEqual(parts);
  });

  test('have defaults that go by the role and by production', () => {
    const all = (environment: Record<string, string>, words: string[] = []) => {
      const {
        stopping,
        limits,
        auth,
        console,
        payments: _,
        server,
        ...rest
      } = readConfig(environment, words);
      return [
        stopping.workerGraceSeconds,
        stopping.drainSeconds,
        limits.countsInDatabase,
        auth.unpaidExecutions,
        console.build,
        server.isLoopback,
        rest.split.isOtherGraph,
        rest.demo,
      ];
    };
    const key = { INTERNAL_KEY: SECRET };
    const database = { DATABASE_URL: 'postgres://db/kiln' };
    expect(all({})).toEqual([5, 0, false, 'open', true, true, false, false]);
    expect(all(live)).toEqual([300, 5, false, 'keys', false, true, false, false]);
    expect(all({ ...key, PORT: '1' }, ['--role', 'worker'])).toEqual([
      300,
      0,
      false,
      'open',
      true,
      false,
      false,
      false,
    ]);
    expect(all(database, others)).toEqual([300, 0, true, 'open', true, false, true, false]);
    expect(all({ ...database, RATE_COUNTS: 'process', KILN_ENV: 'demo' }, others)[2]).toBe(false);
    expect(all({ KILN_ENV: 'demo', CONSOLE_BUILD: 'off', UNPAID_EXECUTIONS: 'nobody' }).slice(3)).toEqual([
      'nobody',
      false,
      true,
      false,
      true,
    ]);
    expect(all({ PROCESSES: '2', SANDBOX_URL: 'http://box:1' })[2]).toBe(true);
    const payments = (environment: Record<string, string>) => readConfig(environment).payments;
    expect([payments({}).autoPay, payments({ SANDBOX_AUTO_PAY: 'false' }).autoPay]).toEqual([true, false]);
    expect(payments(live)).toMatchObject({ autoPay: false, stripe: null });
    expect(payments({ ...paid, STRIPE_SECRET_KEY: 'sk_test_1' })).toMatchObject({
      autoPay: false,
      stripe: { secretKey: 'sk_test_1', webhookSecrets: ['whsec_1'] },
    });
    expect(readConfig({ CORS_ORIGINS: '*' }).server.corsOrigins).toBe('any');
    expect(readConfig({ OPENAI_FACE: 'off' }).openaiFace).toBeNull();
    expect(readConfig({ MCP: 'off', COMFY_API: 'off' })).toMatchObject({
      mcp: { on: false },
      comfyApi: false,
    });
    expect(readConfig({ QUERY_TIMEOUT: '7', PLAN_CACHE_MB: '3' })).toMatchObject({
      data: { queryTimeoutMs: 7_000 },
      limits: { planCacheBytes: 3_000_000 },
    });
  });
});

describe('the keys of Alipay', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'kiln-config-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  const [ours, theirs] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 1024 }));
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const priv = (pair = ours) => String(pair?.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const pub = (pair: { publicKey: KeyObject } | undefined = theirs) =>
    String(pair?.publicKey.export({ type: 'spki', format: 'pem' }));
  const readProblem = (content: string) => {
    const file = path.join(directory, 'keys.pem');
    writeFileSync(file, content);
    return readProblems({ REST_AUTH: 'open', ALIPAY_APPS: `2021=${file}` })['ALIPAY_APPS'] ?? 'taken';
  };

  test('are two RSA keys in one file', () => {
    expect(readProblem(`${priv()}${pub()}`)).toBe('taken');
    for (const wrong of ['', priv(), pub(), `${priv()}${priv()}${pub()}`, `${priv()}${pub()}${pub()}`])
      expect(readProblem(wrong)).toContain('the file of app 2021 must hold two PEM blocks');
    expect(readProblem(`${priv()}${pub()}${' '.repeat(64 * 1024)}`)).toContain('must hold two PEM blocks');
    const noRsa = [`${priv()}${pub(elliptic)}`, priv().replace(/[A-Za-z0-9+/]{9}/, 'A') + pub()];
    for (const wrong of noRsa) expect(readProblem(wrong)).toContain('holds keys that are no RSA keys');
    expect(
      readProblems({ REST_AUTH: 'open', ALIPAY_APPS: `2021=${directory}/none` })['ALIPAY_APPS'],
    ).toContain("the file of app 2021 can't be read");
  });
});

test('OPENAI_MODEL_ALIASES are pairs, and names may have colons and slashes', () => {
  const aliases = (OPENAI_MODEL_ALIASES: string) => readConfig({ OPENAI_MODEL_ALIASES }).openaiFace?.aliases;
  expect(aliases(' dall-e-3=gpt-image-2,, a/b=hub:c ')).toEqual(
    new Map([
      ['dall-e-3', 'gpt-image-2'],
      ['a/b', 'hub:c'],
    ]),
  );
  for (const wrong of ['one', 'a=b,c', 'a=b=c', '=b', 'a=', 'a = b', `a=${'b'.repeat(201)}`]) {
    expect(readProblems({ OPENAI_MODEL_ALIASES: wrong })['OPENAI_MODEL_ALIASES']).toContain(
      'name=model pairs',
    );
  }
});

test('SIGN_IN_REDIRECTS are origins, and schemes with a dot', () => {
  const redirects = (SIGN_IN_REDIRECTS: string) => readConfig({ SIGN_IN_REDIRECTS }).signIn.redirects;
  expect(redirects('https://example.org, Com.Example.App:, org.example://')).toEqual([
    'https://example.org',
    'com.example.app:',
    'org.example:',
  ]);
  for (const wrong of [
    'javascript:',
    'app:',
    'ftp://example.org',
    'https://example.org/path',
    'com.example.app:x',
  ]) {
    expect(readProblems({ SIGN_IN_REDIRECTS: wrong })['SIGN_IN_REDIRECTS']).toContain('must be');
  }
});

test('IDP_AUTHORIZE_PARAMETERS are none of the parameters of the flow', () => {
  const problem = (IDP_AUTHORIZE_PARAMETERS: string) =>
    readProblems({ IDP_AUTHORIZE_PARAMETERS })['IDP_AUTHORIZE_PARAMETERS'];
  expect(problem('access_type=offline, prompt = consent') ?? '').not.toContain('name=value');
  for (const wrong of ['state=x', 'prompt=consent,scope=all', 'redirect_uri=x', 'prompt', 'prompt=']) {
    expect(problem(wrong)).toContain('name=value');
  }
});

test('a file of generators has at most a megabyte, and may begin with a byte order mark', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'kiln-config-'));
  const file = path.join(directory, 'generators.json');
  const environment = { REST_AUTH: 'open', GENERATORS_FILE: file, PRICES_FILE: file };
  try {
    writeFileSync(file, '\uFEFF{}');
    const { providers } = readConfig(environment);
    expect(providers.generatorsFile).toEqual({ path: file, text: '{}', variables: {} });
    writeFileSync(file, ' '.repeat(1024 * 1024));
    expect(readProblems(environment)['GENERATORS_FILE']).toBeUndefined();
    writeFileSync(file, ' '.repeat(1024 * 1024 + 1));
    expect(readProblems(environment)['GENERATORS_FILE']).toContain('more than 1048576 bytes');
  } finally {
    rmSync(directory, { recursive: true });
  }
  expect(readProblems(environment)['PRICES_FILE']).toContain("can't be read");
});

describe('the file of --config that is read again', () => {
  test('is as it is now, and is none where there was none', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'kiln-config-again-'));
    const file = path.join(folder, 'gateway.yaml');
    writeFileSync(file, 'a: 1');
    expect(readGatewayFileAgain(file)).toEqual({ path: file, text: 'a: 1', variables: {} });
    writeFileSync(file, '\uFEFFa: 2');
    expect(readGatewayFileAgain(file)?.text).toBe('a: 2');
    rmSync(folder, { recursive: true });
    expect(() => readGatewayFileAgain(file)).toThrow(ConfigError);
    expect(() => readGatewayFileAgain(file)).toThrow(/--config.*names a file that can't be read/s);
    expect(readGatewayFileAgain(null)).toBeNull();
  });
});
