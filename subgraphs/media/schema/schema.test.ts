import { readdir, readFile } from 'node:fs/promises';

import { isEnumType, isInputObjectType, isObjectType, type GraphQLNamedType } from 'graphql';
import { describe, expect, it } from 'vitest';

import { mediaSchema } from './index.ts';

function undescribed(type: GraphQLNamedType): string[] {
  const missing = type.description ? [] : [type.name];
  if (isObjectType(type)) {
    for (const field of Object.values(type.getFields())) {
      if (!field.description) missing.push(`${type.name}.${field.name}`);
      for (const argument of field.args) {
        if (!argument.description) missing.push(`${type.name}.${field.name}(${argument.name})`);
      }
    }
  }
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields()))
      if (!field.description) missing.push(`${type.name}.${field.name}`);
  }
  if (isEnumType(type)) {
    for (const value of type.getValues()) if (!value.description) missing.push(`${type.name}.${value.name}`);
  }
  return missing;
}

describe('the media schema', () => {
  it('lists every file of its folder', async () => {
    const folder = new URL('.', import.meta.url);
    const index = await readFile(new URL('index.ts', folder), 'utf8');
    const files = (await readdir(folder)).filter((name) => !/^index\.ts$|\.test\.ts$/.test(name));
    expect(files.filter((name) => !index.includes(`'./${name}'`))).toEqual([]);
  });

  it('describes every type, field, argument and value', () => {
    const ours = Object.values(mediaSchema.getTypeMap()).filter(
      ({ name }) => !/^_|^federation__|^link__|^(String|Int|Float|Boolean|ID)$/.test(name),
    );
    const missing = ours.flatMap(undescribed).filter((name) => !name.startsWith('Query._'));
    expect(missing).toEqual([]);
  });

  it('has exactly these root fields', () => {
    const rootFields = (type: { getFields(): object } | null | undefined) =>
      Object.keys(type?.getFields() ?? {})
        .filter((name) => !name.startsWith('_'))
        .sort();
    expect(rootFields(mediaSchema.getQueryType())).toEqual([
      'checkPrompt',
      'checkStart',
      'comfyWorkflows',
      'health',
      'models',
      'providerVoices',
      'runningNode',
      'task',
      'taskTypeAvailable',
      'tasks',
      'videoTemplates',
      'voices',
      'webhookDeliveries',
    ]);
    expect(rootFields(mediaSchema.getMutationType())).toEqual([
      'analyzeMedia',
      'cancelTask',
      'chat',
      'cloneVoice',
      'createAvatar',
      'createCharacter',
      'createTask',
      'createVideoTemplate',
      'deleteMedia',
      'deleteVideoTemplate',
      'describeImage',
      'detectPerson',
      'generateAvatarVideo',
      'generateCharacterImage',
      'generateFrameVideo',
      'generateHumanVideo',
      'generateImage',
      'generateVideo',
      'lipSync',
      'redeliverWebhook',
      'runComfyWorkflow',
      'startTask',
      'synthesizeSpeech',
      'updateVideoTemplate',
      'uploadAvatarSource',
      'uploadFile',
      'uploadLipSyncResource',
      'uploadToProvider',
      'uploadVoiceSample',
    ]);
    expect(rootFields(mediaSchema.getSubscriptionType())).toEqual(['chatStream', 'taskProgress']);
  });
});
