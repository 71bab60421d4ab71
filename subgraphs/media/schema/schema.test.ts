import { readdir, readFile } from 'node:fs/promises';

import { graphql } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { undescribed } from '../../../platform/graphql/schema/undescribed.fixture.ts';
import { mediaSchema } from './index.ts';

describe('the media schema', () => {
  it('lists every file of its folder', async () => {
    const folder = new URL('.', import.meta.url);
    const index = await readFile(new URL('index.ts', folder), 'utf8');
    const files = (await readdir(folder)).filter((name) => !/^index\.ts$|\.test\.ts$/.test(name));
    expect(files.filter((name) => !index.includes(`'./${name}'`))).toEqual([]);
  });

  it('describes every type, field, argument and value', () => {
    expect(undescribed(mediaSchema)).toEqual([]);
  });

  it('has exactly these root fields', () => {
    const rootFields = (type: { getFields(): object } | null | undefined) =>
      Object.keys(type?.getFields() ?? {})
        .filter((name) => !name.startsWith('_'))
        .sort();
    expect(rootFields(mediaSchema.getQueryType())).toEqual([
      'boards',
      'budgets',
      'bulkOperations',
      'checkPrompt',
      'checkStart',
      'comfyServers',
      'comfyWorkflows',
      'conversation',
      'conversationMessages',
      'conversations',
      'estimateCost',
      'findModels',
      'health',
      'media',
      'mediaByBlake3',
      'medias',
      'model',
      'models',
      'myBudgets',
      'personalData',
      'proposedWorkflow',
      'providerHealth',
      'providerHours',
      'providerVoices',
      'runningNode',
      'savedWorkflow',
      'savedWorkflows',
      'sharedBoard',
      'shares',
      'task',
      'taskTypeAvailable',
      'tasks',
      'usage',
      'videoTemplates',
      'videoTemplatesConnection',
      'voices',
      'webhookDeliveries',
      'webhookEndpointDeliveries',
      'webhookEndpoints',
    ]);
    expect(rootFields(mediaSchema.getMutationType())).toEqual([
      'addToBoard',
      'analyzeMedia',
      'cancelTask',
      'cancelTasks',
      'chat',
      'cloneVoice',
      'closeComfyServer',
      'createAvatar',
      'createBoard',
      'createBudget',
      'createCharacter',
      'createTask',
      'createVideoTemplate',
      'createWebhookEndpoint',
      'deleteBoard',
      'deleteBudget',
      'deleteConversation',
      'deleteMedia',
      'deleteTask',
      'deleteVideoTemplate',
      'deleteWebhookEndpoint',
      'deleteWorkflow',
      'describeImage',
      'detectPerson',
      'eraseOwner',
      'generateAvatarVideo',
      'generateCharacterImage',
      'generateFrameVideo',
      'generateHumanVideo',
      'generateImage',
      'generateVideo',
      'lipSync',
      'openComfyServer',
      'pauseBinding',
      'publishEvent',
      'publishWorkflow',
      'redeliverToWebhookEndpoint',
      'redeliverWebhook',
      'refreshModel',
      'removeFromBoard',
      'renameBoard',
      'restartTasks',
      'resumeBinding',
      'revokeShare',
      'rollBackWorkflow',
      'rotateWebhookSecret',
      'runComfyWorkflow',
      'saveConversation',
      'saveWorkflow',
      'shareBoard',
      'shareMedia',
      'starMedia',
      'startTask',
      'stopBulkOperation',
      'synthesizeSpeech',
      'unshareBoard',
      'updateBudget',
      'updateVideoTemplate',
      'updateWebhookEndpoint',
      'uploadAvatarSource',
      'uploadFile',
      'uploadLipSyncResource',
      'uploadToProvider',
      'uploadVoiceSample',
      'withdrawWorkflow',
    ]);
    expect(rootFields(mediaSchema.getSubscriptionType())).toEqual([
      'chatStream',
      'taskProgress',
      'tasksProgress',
    ]);
  });

  it('tells totals beyond the greatest Int', async () => {
    const units = { characters: 2 ** 31, inputTokens: 3e9, cachedTokens: 4e9, outputTokens: 5e9 };
    const usage = async () => [{ microUnits: 1, currency: 'USD', units }];
    const source =
      '{ usage(by: []) { cost { units { characters inputTokens cachedTokens outputTokens } } } }';
    const caller = { ...anonymousCaller('test', null), kind: 'user', id: 'usr_me' };
    const contextValue = { caller, authMode: 'compat', services: { usage: { usage } } };
    const { data, errors } = await graphql({ schema: mediaSchema, source, contextValue });
    expect(errors).toBeUndefined();
    expect(data).toEqual({ usage: [{ cost: { units } }] });
  });
});
