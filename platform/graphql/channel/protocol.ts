import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';

import { z } from 'zod';

import { callerClaims } from '../assertions/caller-assertion.ts';

/** What the asking side says. */

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A request: one operation of one caller. */
const askShape = z.object({
  /** Answers carry it; unique among those that wait for one. */
  ask: z.number().int().positive(),
  /** The place of the operation's text on this connection. */
  slot: z.number().int().nonnegative(),
  /** The text, when the place is new or has another one from now on. */
  text: z.string().optional(),
  operationName: z.string().optional(),
  // As they are: copying would change what is named like a prototype.
  variables: z.custom<Readonly<Record<string, unknown>>>(isObject),
  caller: callerClaims,
  traceparent: z.string().optional(),
});

/** Nobody waits for the answer any more. */
const leaveShape = z.object({ leave: z.number().int().positive() });

/** All messages of a batch. */
export const batchShape = z.array(z.union([askShape, leaveShape]));

/** A request as it travels. */
export type AskMessage = z.infer<typeof askShape>;

/** Operations whose texts both sides of a connection remember. */
export const MAX_SLOTS = 500;

/** How two processes of Kiln agree on a channel: an HTTP upgrade, and a key of the connection that nobody else can know. */

/** The path that is upgraded. A process that knows no channels refuses it, and is asked over HTTP. */
export const CHANNEL_PATH = '/channel';
/** The protocol's name and version in the header `Upgrade`. */
export const CHANNEL_PROTOCOL = 'kiln-channel-1';
/** The method in the assertion of a channel, whose body is the nonce of who asks. */
export const CHANNEL_METHOD = 'CHANNEL';
/** The header that carries the nonce of each side. */
export const NONCE_HEADER = 'x-kiln-nonce';

/** A nonce of one side. */
export function newNonce(): string {
  return randomBytes(24).toString('base64url');
}

/** The key that signs what is asked over one connection: of INTERNAL_KEY, the subgraph's name and the nonces of both sides. */
export function connectionKey(
  internalKey: string,
  facts: { readonly audience: string; readonly asking: string; readonly answering: string },
): KeyObject {
  const { audience, asking, answering } = facts;
  const words = JSON.stringify([CHANNEL_PROTOCOL, audience, asking, answering]);
  return createSecretKey(createHmac('sha256', internalKey).update(words).digest());
}

/** The largest answer over a channel or HTTP between processes of Kiln. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * What goes over a channel as bytes. From the asking side: batches of messages, each signed with the key of the connection and the
 * number of the batch. From the answering side: frames of one answer each.
 */

/** Bytes of a length, and of the signature after it. */
const LENGTH_BYTES = 4;
const MAC_BYTES = 32;
/** Bytes before an answer: its length and its number. */
const ANSWER_HEAD_BYTES = 8;
/** The largest batch: some requests of the largest size that HTTP would take. */
export const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** The number of no request: the answering side wants no more over this connection. */
export const LEAVING = 0;

/** Signs batches in their order. Its counterpart has the same key and has seen the same batches. */
type BatchSigner = ReturnType<typeof createBatchSigner>;

/** Makes the signer of one connection; no batch counts twice, nor at another place, nor over another connection. */
export function createBatchSigner(key: KeyObject) {
  let count = 0n;
  const number = Buffer.alloc(8);
  return {
    /** The signature of the next batch. */
    next(payload: Buffer): Buffer {
      number.writeBigUInt64BE(count);
      count += 1n;
      return createHmac('sha256', key).update(number).update(payload).digest();
    },
  };
}

/** The bytes of a batch. */
export function batchFrame(text: string, signer: BatchSigner): Buffer {
  const bytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + MAC_BYTES + bytes);
  frame.writeUInt32BE(MAC_BYTES + bytes);
  frame.write(text, LENGTH_BYTES + MAC_BYTES);
  signer.next(frame.subarray(LENGTH_BYTES + MAC_BYTES)).copy(frame, LENGTH_BYTES);
  return frame;
}

/** The signature and the content of a batch. */
export function readBatch(frame: Buffer): { readonly mac: Buffer; readonly payload: Buffer } {
  return { mac: frame.subarray(0, MAC_BYTES), payload: frame.subarray(MAC_BYTES) };
}

/** An answer before it is sent. */
export interface OutgoingAnswer {
  readonly id: number;
  readonly text: string;
}

/** The bytes of several answers, to be written at once. */
export function answerFrames(answers: readonly OutgoingAnswer[]): Buffer {
  const sizes = answers.map(({ text }) => Buffer.byteLength(text));
  const all = sizes.reduce((sum, size) => sum + ANSWER_HEAD_BYTES + size, 0);
  const frames = Buffer.allocUnsafe(all);
  let at = 0;
  for (const [index, { id, text }] of answers.entries()) {
    const size = sizes[index] ?? 0;
    frames.writeUInt32BE(LENGTH_BYTES + size, at);
    frames.writeUInt32BE(id, at + LENGTH_BYTES);
    frames.write(text, at + ANSWER_HEAD_BYTES);
    at += ANSWER_HEAD_BYTES + size;
  }
  return frames;
}

/** The number and the bytes of an answer. */
export function readAnswer(frame: Buffer): { readonly id: number; readonly bytes: Buffer } {
  return { id: frame.readUInt32BE(0), bytes: frame.subarray(LENGTH_BYTES) };
}

/** Cuts what is received into frames, without their lengths. Throws at one that is larger than `maxBytes`. */
export function createFrameReader(maxBytes: number): (chunk: Buffer) => readonly Buffer[] {
  let chunks: Buffer[] = [];
  let size = 0;
  let needed = LENGTH_BYTES;
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    // What comes in many chunks is put together once.
    if (size < needed) return [];
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks, size);
    const frames: Buffer[] = [];
    for (;;) {
      needed = LENGTH_BYTES + (rest.length < LENGTH_BYTES ? 0 : rest.readUInt32BE(0));
      if (needed - LENGTH_BYTES > maxBytes) throw new Error(`a frame of ${needed} bytes is too large`);
      if (rest.length < needed || rest.length < LENGTH_BYTES) break;
      frames.push(rest.subarray(LENGTH_BYTES, needed));
      rest = rest.subarray(needed);
    }
    chunks = rest.length === 0 ? [] : [rest];
    size = rest.length;
    return frames;
  };
}
