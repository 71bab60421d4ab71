import { randomBytes } from 'node:crypto';

import type { Answer } from '../http/answer.ts';
import type { Wire, WireRequest } from '../http/wire.ts';
import { createCodes, idFor, type Codes } from './codes.ts';

/** The stand-in's app. The secret protects nothing. */
const WECHAT_APP = { appId: 'wx00000000sandbox1', secret: 'kiln-sandbox-wechat' } as const;

/** WeChat's jscode2session. */
export function createWechatStandIn(): Wire {
  const codes = createCodes();
  return {
    name: 'wechat',
    mount: 'wechat',
    refuse: (status, message) => {
      if (status === 429)
        return refused(45_011, 'api minute-quota reach limit  mustslower  retry next minute');
      return status === 500 ? refused(-1, 'system error') : said({ message }, status);
    },
    routes: [
      {
        method: 'GET',
        path: '/sns/jscode2session',
        operation: 'session',
        handle: (request) => session(codes, request),
      },
    ],
  };
}

function session(codes: Codes, { query }: WireRequest): Answer {
  const of = (name: string): string => query.get(name) ?? '';
  if (of('appid') === '') return refused(41_002, 'appid missing');
  if (of('secret') === '') return refused(41_004, 'appsecret missing');
  if (of('js_code') === '') return refused(41_008, 'missing code');
  if (of('appid') !== WECHAT_APP.appId) return refused(40_013, 'invalid appid');
  if (of('secret') !== WECHAT_APP.secret) return refused(40_125, 'invalid appsecret');
  if (of('grant_type') !== 'authorization_code') return refused(40_002, 'invalid grant_type');
  const person = codes.take(WECHAT_APP.appId, of('js_code'));
  switch (person) {
    case 'unknown':
      return refused(40_029, 'invalid code');
    case 'used':
      return refused(40_163, 'code been used');
    case 'blocked':
      return refused(40_226, 'code blocked');
  }
  return said({
    session_key: randomBytes(16).toString('base64'),
    openid: `o${idFor(`wechat ${WECHAT_APP.appId}`, person).slice(0, 27)}`,
    unionid: `o${idFor('wechat', person).slice(0, 27)}`,
  });
}

function refused(errcode: number, errmsg: string): Answer {
  return said({ errcode, errmsg: `${errmsg}, rid: ${randomBytes(4).toString('hex')}` });
}

/** JSON with the content type text/plain, like WeChat's. */
function said(value: object, status = 200): Answer {
  return { status, headers: { 'content-type': 'text/plain' }, body: JSON.stringify(value) };
}
