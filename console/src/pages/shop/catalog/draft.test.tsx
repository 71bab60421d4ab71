import { describe, expect, it } from 'vitest';

import { makeDraft, makeInput } from './draft.ts';

describe('the form of a template', () => {
  const stored = {
    code: 'c',
    name: 'n',
    workflow: 'video',
    templateType: 'VIDEO',
    isActive: false,
    description: null,
    imageModel: 'm',
    imagePrompt: null,
    tags: ['a', 'b'],
    version: null,
    creditCost: 3,
    price: 1_250,
    currency: 'JPY',
    salePrice: null,
  } as never;

  it('holds a stored one as texts, its price in major units', () => {
    expect(makeDraft(stored)).toEqual({
      code: 'c',
      name: 'n',
      workflow: 'video',
      templateType: 'VIDEO',
      isActive: false,
      description: '',
      imageModel: 'm',
      imagePrompt: '',
      tags: 'a, b',
      version: '',
      creditCost: '3',
      price: '1250',
      currency: 'JPY',
    });
    const usual = {
      ...(stored as object),
      currency: null,
      salePrice: { amount: 1, currency: 'usd' },
    } as never;
    expect(makeDraft(usual)).toMatchObject({ price: '12.5', currency: '' });
    expect(makeDraft({ ...(stored as object), price: null } as never).price).toBe('');
    const texts = { description: 'd', imagePrompt: '{prompt}', version: '2.0.0' };
    expect(makeDraft({ ...(stored as object), ...texts } as never)).toMatchObject(texts);
    expect(makeDraft(null)).toMatchObject({
      code: '',
      templateType: 'IMAGE',
      creditCost: '1',
      isActive: true,
    });
  });

  it('is sent with its price in minor units of its currency, and without what it can not change', () => {
    const draft = { ...makeDraft(null), name: ' n ', tags: 'a, b，c,, ', creditCost: '2.4' };
    const send = (more: object, usual = 'usd') => makeInput({ ...draft, ...more }, usual);
    expect(send({})).toMatchObject({
      name: 'n',
      tags: ['a', 'b', 'c'],
      creditCost: 2,
      price: null,
      currency: '',
    });
    expect(send({ description: 'd', workflow: 'video' })).toMatchObject({
      description: 'd',
      workflow: 'video',
    });
    expect(send({})).not.toHaveProperty('code');
    expect(send({})).not.toHaveProperty('isActive');
    expect(send({ price: '12.5' }).price).toBe(1_250);
    expect(send({ price: '12.5' }, 'jpy').price).toBe(13);
    expect(send({ price: '1.5', currency: ' BHD ' })).toMatchObject({ price: 1_500, currency: 'bhd' });
    expect(send({ price: '1.5', currency: 'dollar' })).toMatchObject({ price: 150, currency: 'dollar' });
    expect(send({ price: ' ', currency: 'eur' })).toMatchObject({ price: null, currency: '' });
  });
});
