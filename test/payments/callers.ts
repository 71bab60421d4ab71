import { internalCaller, type Caller } from '../../platform/access/caller.ts';

/** Who buys, who is somebody else, and Kiln itself. */
export const operator: Caller = internalCaller('test');
export const anna: Caller = { kind: 'user', id: 'usr_anna', scopes: [], traceId: 't', address: null };
export const ben: Caller = { ...anna, id: 'usr_ben' };
/** A service, which reads what all users buy. */
export const key: Caller = { ...anna, kind: 'key', id: 'key_shop', scopes: ['read'] };
