import { GraphQLError } from 'graphql';
import { expect, it } from 'vitest';

import {
  answerBytes,
  answerText,
  isAnswered,
  isWhole,
  noteAnswered,
  noteWhole,
  remade,
  unreadAnswer,
} from './answers.ts';

it('keeps the bytes of an answer that holds data alone, and reads them when somebody looks', () => {
  const bytes = Buffer.from('{"data":{"a":1}}');
  const answer = unreadAnswer(bytes);
  if (answer === null) throw new Error('not taken');
  expect(answerBytes(answer)).toBe(bytes);
  expect(answer.data).toEqual({ a: 1 });
  expect(answer.data).toBe(answer.data);
  expect(answer).toEqual({ data: { a: 1 } });
  expect(answerBytes({ ...answer })).toBeUndefined();
});

it.each(['{"errors":[],"data":{"a":1}}', '{"data":null}', '{"data":{', '{ "data": {"a":1}}', ''])(
  'leaves %s to be read at once',
  (text) => expect(unreadAnswer(Buffer.from(text))).toBeNull(),
);

it('finds no data in bytes that are damaged later', () => {
  const bytes = Buffer.from('{"data":{"a":1}}');
  const answer = unreadAnswer(bytes);
  bytes.write('{"none":{"a":1}}');
  expect(answer?.data).toBeNull();
});

it('begins an answer with its data only where there is nothing else in it', () => {
  const data = { a: 1 };
  const errors = [new GraphQLError('no')];
  expect([
    answerText({ data }),
    answerText({ data, extensions: { b: 2 } }),
    answerText({ data, errors }),
  ]).toEqual([
    '{"data":{"a":1}}',
    '{"extensions":{"b":2},"data":{"a":1}}',
    '{"errors":[{"message":"no"}],"data":{"a":1}}',
  ]);
});

it('knows data of which a part was answered, also where it was made anew', () => {
  const [answered, other] = [{ a: null }, { a: null }];
  noteAnswered(answered);
  expect([answered, other, null, undefined, 'text'].map((data) => isAnswered(data))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  const made = { b: null };
  expect(remade(other, made)).toBe(made);
  expect(isAnswered(made)).toBe(false);
  expect(remade(answered, made)).toBe(made);
  expect(isAnswered(made)).toBe(true);
});

it('knows errors that callers may see, also under others', () => {
  const seen = new GraphQLError('seen');
  expect(noteWhole(seen)).toBe(seen);
  const above = (originalError: Error) => new GraphQLError('above', { originalError });
  expect([seen, above(seen), above(above(seen))].map(isWhole)).toEqual([true, true, true]);
  expect([new GraphQLError('seen'), above(new Error('plain'))].map(isWhole)).toEqual([false, false]);
});
