import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { toError } from '../errors.ts';
import type { Report } from './settings/setting.ts';
import type { Values } from './settings/settings.ts';

const ENDPOINTS = ['IDP_AUTHORIZATION_URL', 'IDP_TOKEN_URL', 'IDP_USERINFO_URL'] as const;
const ABOUT_PROVIDER = [
  'IDP_CLIENT_ID',
  'IDP_CLIENT_SECRET',
  'IDP_CALLBACK_URL',
  'IDP_JWKS',
  ...ENDPOINTS,
] as const;
const LISTS_ABOUT_PROVIDER = ['IDP_AUDIENCES', 'IDP_AUTHORIZE_PARAMETERS'] as const;
const PLATFORMS = ['WECHAT', 'DOUYIN', 'ALIPAY'] as const;
/** Largest file of keys, in bytes. */
const MAX_KEY_FILE = 64 * 1024;

/** Checks that the provider is configured completely, and that platforms have apps, each once. */
export function checkSignIn(values: Values, report: Report, production: boolean): void {
  checkProvider(values, report, production);
  for (const platform of PLATFORMS) {
    const apps = values[`${platform}_APPS`];
    if (values[`${platform}_BASE_URL`] !== null && apps === null) {
      report(`${platform}_APPS`, `is needed with ${platform}_BASE_URL: the mini-programs there`);
    }
    const ids = (apps ?? []).map(({ appId }) => appId);
    if (apps !== null && ids.length === 0) report(`${platform}_APPS`, 'names no app: unset it');
    if (new Set(ids).size < ids.length) report(`${platform}_APPS`, 'names an app twice: keep one of them');
  }
}

function checkProvider(values: Values, report: Report, production: boolean): void {
  const { IDP_ISSUER: issuer } = values;
  const present = [
    ...ABOUT_PROVIDER.filter((name) => values[name] !== null),
    ...LISTS_ABOUT_PROVIDER.filter((name) => values[name].length > 0),
  ];
  if (issuer === null && present.length > 0) {
    report('IDP_ISSUER', `is needed with ${present.join(', ')}: the issuer of the identity provider`);
  }
  if (issuer !== null && values.IDP_CLIENT_ID === null) {
    report('IDP_CLIENT_ID', 'is needed with IDP_ISSUER: what Kiln is called there');
  }
  const missing = ENDPOINTS.filter((name) => values[name] === null);
  if (missing.length > 0 && missing.length < ENDPOINTS.length) {
    for (const name of missing) {
      report(name, 'is needed with the other two addresses: or unset all three, so that they are discovered');
    }
  }
  if (!production) return;
  if (values.LEGACY_JWKS?.jwks.startsWith('http:') === true) {
    report('LEGACY_JWKS', 'must have its jwks at an https:// address in production');
  }
  for (const name of ['IDP_ISSUER', 'IDP_CALLBACK_URL', 'IDP_JWKS', ...ENDPOINTS] as const) {
    if (values[name]?.startsWith('http:') === true) report(name, 'must be an https:// address in production');
  }
}

/**
 * How users sign in: the configuration of checked settings. Null parts are the sandbox's in development, and absent in
 * production. Reads the key files of Alipay; a wrong one is reported.
 */
export function readSignInSettings(values: Values, report: Report) {
  const { WECHAT_APPS: wechat, DOUYIN_APPS: douyin, ALIPAY_APPS: alipay } = values;
  return {
    provider: readProvider(values),
    /** Exact origins, and schemes with their colon, that browsers may be redirected to. */
    redirects: values.SIGN_IN_REDIRECTS,
    /** Access tokens of a service that was replaced; null: none are accepted. */
    legacyTokens: values.LEGACY_JWKS,
    wechat: wechat && { apps: wechat, baseUrl: values.WECHAT_BASE_URL ?? 'https://api.weixin.qq.com' },
    douyin: douyin && { apps: douyin, baseUrl: values.DOUYIN_BASE_URL ?? 'https://developer.toutiao.com' },
    alipay: alipay && {
      apps: alipay.flatMap(({ appId, file }) => {
        const keys = readKeys(path.resolve(file), (message) =>
          report('ALIPAY_APPS', `the file of app ${appId} ${message}`),
        );
        return keys === null ? [] : [{ appId, ...keys }];
      }),
      baseUrl: values.ALIPAY_BASE_URL ?? 'https://openapi.alipay.com',
    },
  };
}

function readProvider(values: Values) {
  const { IDP_ISSUER: issuer, IDP_CLIENT_ID: clientId } = values;
  const { IDP_AUTHORIZATION_URL: authorization, IDP_TOKEN_URL: token, IDP_USERINFO_URL: userinfo } = values;
  if (issuer === null || clientId === null) return null;
  return {
    /** Exactly as configured. */
    issuer,
    clientId,
    /** Null: a public client. */
    clientSecret: values.IDP_CLIENT_SECRET,
    /** Null: PUBLIC_URL/auth/idp/callback. */
    callbackUrl: values.IDP_CALLBACK_URL,
    /** Null: found by discovery. */
    endpoints:
      authorization === null || token === null || userinfo === null
        ? null
        : { authorization, token, userinfo },
    /** Null: its access tokens are not taken. */
    jwks: values.IDP_JWKS,
    audiences: values.IDP_AUDIENCES,
    parameters: Object.fromEntries(values.IDP_AUTHORIZE_PARAMETERS),
  };
}

/** The keys of a mini-program that Alipay knows. */
interface AlipayKeys {
  /** Signs our requests. */
  readonly privateKey: KeyObject;
  /** Verifies the platform's responses. */
  readonly platformKey: KeyObject;
}

/** A private and a public key in one PEM file. Reports never repeat the file's content. */
function readKeys(file: string, report: (message: string) => void): AlipayKeys | null {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    report(`can't be read: ${toError(error).message}`);
    return null;
  }
  const blocks =
    content.length > MAX_KEY_FILE
      ? []
      : (content.match(/-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g) ?? []);
  const ours = blocks.filter((block) => block.includes('PRIVATE KEY'));
  const theirs = blocks.filter((block) => block.includes('PUBLIC KEY'));
  const [privateText] = ours;
  const [publicText] = theirs;
  if (privateText === undefined || publicText === undefined || ours.length > 1 || theirs.length > 1) {
    report(
      "must hold two PEM blocks: the app's own PRIVATE KEY, and the PUBLIC KEY that Alipay shows for the app",
    );
    return null;
  }
  try {
    const keys = { privateKey: createPrivateKey(privateText), platformKey: createPublicKey(publicText) };
    if (Object.values(keys).every(({ asymmetricKeyType }) => asymmetricKeyType === 'rsa')) return keys;
  } catch {
    // Reported below: OpenSSL's message could repeat a part of the key.
  }
  report('holds keys that are no RSA keys: Alipay signs with RSA2');
  return null;
}
