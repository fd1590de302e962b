// The texts of the upload view, and of the sheet that a drop elsewhere opens.
import { bytes } from '../format';
import { plural } from './common';

export const uploadText = {
    title: 'Upload',
    collection: 'Collection',
    collectionHelp: 'A new name creates a new collection.',
    tags: 'Tags',
    tagsHelp: 'Added to every file: key:value, separated by spaces. Quote values that contain spaces.',
    tagsExample: 'robot:r1 site:hall',
    tagForm: 'Write tags as key:value, separated by spaces.',
    sheetTitle: (n: number) => `Upload ${plural(n, 'file', 'files')}`,
    held: (n: number) =>
        `${plural(n, 'file is', 'files are')} waiting: correct the collection and the tags above, then upload.`,
    sendHeld: (n: number) => `Upload ${plural(n, 'file', 'files')}`,
    drop: 'Drop files or folders here',
    files: 'Choose files',
    folder: 'Choose folder',
    help: 'Verified; interrupted uploads resume. Files that are already stored are not sent again.',
    list: 'Uploads',
    progressOf: (done: string, all: string) => `${done} of ${all} uploaded`,
    left: (time: string) => `${time} left`,
    clearFinished: 'Clear finished',
    states: {
        waiting: 'Waiting',
        sending: 'Uploading',
        checking: 'Verifying',
        paused: 'Paused',
        done: 'Done',
        partial: 'Stored, damaged',
        duplicate: 'Already stored',
        failed: 'Failed',
    },
    pause: (name: string) => `Pause ${name}`,
    resume: (name: string) => `Resume ${name}`,
    remove: (name: string) => `Remove ${name}`,
    progress: (name: string) => `Progress of ${name}`,
    noCollection: 'Enter a collection.',
    emptyFile: 'The file is empty.',
    alreadyQueued: (n: number) => `${plural(n, 'file is', 'files are')} already in the list.`,
    storedAs: 'Already stored as',
    otherCollection: (is: string, chosen: string) => `It stays in the collection ${is}, not ${chosen}.`,
    notTagged: (tags: string) => `The tags ${tags} were not added.`,
    addTags: 'Add tags to the existing recording',
    tagged: (tags: string) => `Tags added: ${tags}`,
    partFailed: (name: string) => `It is part of a recording with ${name}, which failed.`,
    otherBytes:
        'The server received different bytes than the file contains. Delete the recording and upload the file again.',
    partial: (messages: number, lost: number, why: string) =>
        `${plural(messages, 'message', 'messages')} recovered, ${bytes(lost)} lost. ${why}`.trim(),
    savedAs: 'Saved as',
};
