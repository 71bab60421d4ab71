import { randomBytes } from 'node:crypto';

import { json } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import { jsonObject, type Wire, type WireRequest } from '../http/wire.ts';
import { createCodes, idFor, type Codes } from './codes.ts';

/** The stand-in's app. The secret protects nothing. */
const DOUYIN_APP = { appId: 'tt00000000sandbox1', secret: 'kiln-sandbox-douyin' } as const;

/** Douyin's v2 jscode2session: HTTP 200 for errors too. */
export function createDouyinStandIn(): Wire {
  const codes = createCodes();
  return {
    name: 'douyin',
    mount: 'douyin',
    refuse: (status, message) =>
      status === 500 ? refused(-1, 'system error') : json({ err_no: -1, err_tips: message }, status),
    routes: [
      {
        method: 'POST',
        path: '/api/apps/v2/jscode2session',
        operation: 'session',
        handle: (request) => session(codes, request),
      },
    ],
  };
}

function session(codes: Codes, request: WireRequest): Answer {
  const input = jsonObject(request) ?? {};
  const of = (name: string): string => (typeof input[name] === 'string' ? input[name] : '');
  if (of('appid') !== DOUYIN_APP.appId) return refused(40_015, 'bad appid');
  if (of('secret') !== DOUYIN_APP.secret) return refused(40_017, 'bad secret');
  const isKnown = of('code') !== '';
  const person = codes.take(DOUYIN_APP.appId, isKnown ? of('code') : of('anonymous_code'));
  if (typeof person === 'string') {
    return isKnown ? refused(40_018, 'bad code') : refused(40_019, 'bad anonymous code');
  }
  const id = (purpose: string): string => `_000${idFor(`douyin ${purpose}`, person).slice(0, 32)}`;
  return answered({
    err_no: 0,
    err_tips: 'success',
    data: {
      session_key: randomBytes(16).toString('base64'),
      openid: isKnown ? id('openid') : '',
      anonymous_openid: isKnown ? '' : id('anonymous'),
      unionid: isKnown ? id('unionid') : '',
    },
  });
}

function refused(err_no: number, err_tips: string): Answer {
  return answered({ err_no, err_tips, data: null });
}

function answered(value: object): Answer {
  return json({ log_id: randomBytes(16).toString('hex'), ...value });
}
