import type { Template } from '../domain/template.ts';

/** A template of images with nothing special. */
export const template: Template = {
  code: 'c',
  name: 'n',
  description: null,
  workflow: 'image',
  creditCost: 1,
  price: null,
  currency: null,
  version: null,
  templateType: 'IMAGE',
  tags: [],
  imageModel: 'm',
  imagePrompt: '{prompt}, in ink, {prompt}!',
  parameters: {},
  isActive: true,
  createdAt: new Date(),
};
