from hypothesis import settings

# a loaded machine must not fail a property; fifty examples of few scores meet every tie there is
settings.register_profile("ranking", deadline=None, max_examples=50)
settings.load_profile("ranking")
