import { httpAddress, list, text } from './formats.ts';
import { optional, setting } from './setting.ts';
import { appFile, appSecret, authorizeParameter, issuerAddress, redirectTarget } from './sign-in-formats.ts';

const SANDBOX = 'sandbox in development, absent in production';

/** The sign-in settings, in the order of the README. */
export const signInSettings = {
  IDP_ISSUER: optional(issuerAddress, {
    default: SANDBOX,
    meaning: 'issuer of the identity provider (OpenID Connect), exactly as its discovery document names it',
  }),
  IDP_CLIENT_ID: optional(text, { meaning: 'client id of Kiln at the provider' }),
  IDP_CLIENT_SECRET: optional(text, { meaning: 'client secret; none for a public client' }),
  IDP_CALLBACK_URL: optional(httpAddress, {
    default: 'PUBLIC_URL/auth/idp/callback',
    meaning: 'redirect URI, as registered at the provider',
  }),
  IDP_AUTHORIZATION_URL: optional(httpAddress, {
    default: 'discovered',
    meaning:
      'authorization endpoint of a provider without discovery (plain OAuth 2.0); all three addresses or none',
  }),
  IDP_TOKEN_URL: optional(httpAddress, { default: 'discovered', meaning: 'its token endpoint' }),
  IDP_USERINFO_URL: optional(httpAddress, {
    default: 'discovered',
    meaning: 'its userinfo endpoint, which must return a sub',
  }),
  IDP_AUDIENCES: setting(
    list((entry) => entry, 'client ids'),
    {
      default: '',
      meaning: 'client ids of native apps whose ID tokens are accepted too, separated by commas',
    },
  ),
  IDP_AUTHORIZE_PARAMETERS: setting(
    list(authorizeParameter, 'name=value that are none of the parameters of the flow itself'),
    {
      default: '',
      meaning:
        'extra parameters of the authorization request: name=value, separated by commas (Google: access_type=offline,prompt=consent)',
    },
  ),
  SIGN_IN_REDIRECTS: setting(
    list(redirectTarget, 'origins such as https://example.org and schemes such as com.example.app:'),
    {
      default: '',
      meaning:
        'where browsers may be redirected after sign-in besides our own paths: exact origins and schemes of apps (com.example.app:), separated by commas',
    },
  ),
  WECHAT_APPS: optional(list(appSecret, 'appId=secret'), {
    default: SANDBOX,
    meaning: 'WeChat mini-programs that sign in here: appId=secret, separated by commas',
  }),
  WECHAT_BASE_URL: optional(httpAddress, {
    default: 'https://api.weixin.qq.com',
    meaning: 'base URL of the WeChat API',
  }),
  DOUYIN_APPS: optional(list(appSecret, 'appId=secret'), {
    default: SANDBOX,
    meaning: 'Douyin mini-programs: appId=secret, separated by commas',
  }),
  DOUYIN_BASE_URL: optional(httpAddress, {
    default: 'https://developer.toutiao.com',
    meaning: 'base URL of the Douyin API',
  }),
  ALIPAY_APPS: optional(list(appFile, 'appId=path of a PEM file'), {
    default: SANDBOX,
    meaning:
      "Alipay mini-programs: appId=path of a PEM file, separated by commas; the file holds the app's private key and Alipay's public key for it",
  }),
  ALIPAY_BASE_URL: optional(httpAddress, {
    default: 'https://openapi.alipay.com',
    meaning: 'base URL of the Alipay gateway, without /gateway.do',
  }),
};
