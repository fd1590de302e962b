export * from './basic';
export * from './dialog';
export * from './lazy';
export * from './menu';
export * from './table';
export * from './tree';
export type { IconName } from './icons';
