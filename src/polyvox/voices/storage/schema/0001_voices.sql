-- Voices, the objects that are being written for voices to come, and notes of the voices that were deleted.
CREATE TABLE polyvox_voices (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT COLLATE "C" NOT NULL,
    transcript TEXT NOT NULL,
    transcription TEXT NOT NULL,
    language TEXT COLLATE "C" NOT NULL,
    tags TEXT[] NOT NULL,
    consent BOOLEAN NOT NULL,
    consent_note TEXT NOT NULL,
    duration DOUBLE PRECISION NOT NULL,
    sample_rate INTEGER NOT NULL,
    report TEXT NOT NULL,
    audio_digest TEXT COLLATE "C" NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    used DOUBLE PRECISION NOT NULL,
    embedding BYTEA,
    object_key TEXT COLLATE "C" NOT NULL,
    UNIQUE (owner, name_key)
);
CREATE INDEX polyvox_voices_by_audio ON polyvox_voices (audio_digest);
CREATE INDEX polyvox_voices_by_age ON polyvox_voices (created, id);
CREATE INDEX polyvox_voices_pending ON polyvox_voices (id) WHERE transcription = 'pending';

CREATE TABLE polyvox_uploads (
    object_key TEXT COLLATE "C" PRIMARY KEY,
    started TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    abandoned BOOLEAN NOT NULL DEFAULT FALSE,
    deleted BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE TABLE polyvox_forgotten (
    serial BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    voice_id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    audio_digest TEXT COLLATE "C" NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    object_key TEXT COLLATE "C" NOT NULL,
    object_deleted BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX polyvox_forgotten_objects ON polyvox_forgotten (serial) WHERE NOT object_deleted;
CREATE INDEX polyvox_forgotten_ids ON polyvox_forgotten (voice_id);
