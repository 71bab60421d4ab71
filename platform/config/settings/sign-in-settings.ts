import { httpAddress, list, text } from './formats.ts';
import { optional, real, setting } from './setting.ts';
import {
  appFile,
  appSecret,
  authorizeParameter,
  issuerAddress,
  legacyJwks,
  redirectTarget,
} from './sign-in-formats.ts';

/** The sign-in settings, in the order of docs/settings.md. */
export const signInSettings = {
  IDP_ISSUER: real(
    issuerAddress,
    'issuer of the identity provider (OpenID Connect), exactly as its discovery document names it',
  ),
  IDP_CLIENT_ID: optional(text, 'client id of Kiln at the provider'),
  IDP_CLIENT_SECRET: optional(text, 'client secret; none for a public client'),
  IDP_CALLBACK_URL: optional(
    httpAddress,
    'redirect URI, as registered at the provider',
    'PUBLIC_URL/auth/idp/callback',
  ),
  IDP_AUTHORIZATION_URL: optional(
    httpAddress,
    'authorization endpoint of a provider without discovery (plain OAuth 2.0); all three addresses or none',
    'discovered',
  ),
  IDP_TOKEN_URL: optional(httpAddress, 'its token endpoint', 'discovered'),
  IDP_USERINFO_URL: optional(httpAddress, 'its userinfo endpoint, which must return a sub', 'discovered'),
  IDP_JWKS: optional(
    httpAddress,
    'address of its public keys: agents sign in at it, with access tokens for PUBLIC_URL/mcp (docs/mcp.md)',
    'agents have service keys',
  ),
  IDP_AUDIENCES: setting(
    list((entry) => entry, 'client ids'),
    'client ids of native apps whose ID tokens are accepted too, separated by commas',
    '',
  ),
  IDP_AUTHORIZE_PARAMETERS: setting(
    list(authorizeParameter, 'name=value that are none of the parameters of the flow itself'),
    'extra parameters of the authorization request: name=value, separated by commas (Google: access_type=offline,prompt=consent)',
    '',
  ),
  SIGN_IN_REDIRECTS: setting(
    list(redirectTarget, 'origins such as https://example.org and schemes such as com.example.app:'),
    'where browsers may be redirected after sign-in besides our own paths: exact origins and schemes of apps (com.example.app:), separated by commas',
    '',
  ),
  LEGACY_JWKS: optional(
    legacyJwks,
    'access tokens of a service that Kiln replaces name their users: issuer=...,audience=...,jwks=URL of its public keys,until=YYYY-MM-DD (docs/migrating.md)',
  ),
  WECHAT_APPS: real(
    list(appSecret, 'appId=secret'),
    'WeChat mini-programs that sign in here: appId=secret, separated by commas',
  ),
  WECHAT_BASE_URL: optional(httpAddress, 'base URL of the WeChat API', 'https://api.weixin.qq.com'),
  DOUYIN_APPS: real(
    list(appSecret, 'appId=secret'),
    'Douyin mini-programs: appId=secret, separated by commas',
  ),
  DOUYIN_BASE_URL: optional(httpAddress, 'base URL of the Douyin API', 'https://developer.toutiao.com'),
  ALIPAY_APPS: real(
    list(appFile, 'appId=path of a PEM file'),
    "Alipay mini-programs: appId=path of a PEM file, separated by commas; the file holds the app's private key and Alipay's public key for it",
  ),
  ALIPAY_BASE_URL: optional(
    httpAddress,
    'base URL of the Alipay gateway, without /gateway.do',
    'https://openapi.alipay.com',
  ),
};
