SELECT user_version FROM pragma_user_version;
