"""Replies in words of our own after generated turns, with the move that each makes.

They were written before the rules that read them. `seen` ones served to mend the rules; `unseen`
ones were looked at once, when the rules were done.
"""

from __future__ import annotations

from typing import NamedTuple

from drl.domains.candor.synthetic.acts import Move, Opening


class Written(NamedTuple):
    """A reply to a generated turn that brings up `matter`."""

    opening: Opening
    matter: str
    reply: str
    move: Move


_WRITTEN = """
good_news | the promotion | cheer | That's incredible, all your hard work finally paid off!
good_news | the new baby | cheer | Aww, a little one! Your family must be beaming with joy.
good_news | the driving test | cheer | Nice one! I knew you would do it.
good_news | the new house | cheer | Good on you, that must feel amazing.
good_news | the engagement | cheer | I couldn't be happier for the two of you.
good_news | the trip | cheer | Lucky you, that's so cool!
good_news | the new pet | ask_on | What did you name it?
good_news | the new house | ask_on | When are you moving in?
good_news | the engagement | ask_on | Have you picked a date for the wedding yet?
good_news | the promotion | ask_on | So what will your new role look like?
good_news | the driving test | ask_on | Where will you drive first?
good_news | the new job | ask_on | How did they tell you?
good_news | the promotion | tell | I was made team leader myself two years back.
good_news | the new pet | tell | I've got three dogs at my place, they sleep all day.
good_news | the new house | swerve | Did you see the football last night?
good_news | the new baby | swerve | So, what's your favourite kind of pizza?
good_news | the promotion | advise | Make sure you put some of the extra money aside.
good_news | the new pet | advise | You'll want to get it vaccinated soon.
good_news | the engagement | disagree | I don't think marriage is a good idea at all.
good_news | the promotion | disagree | Who cares, that's nothing to be proud of.
good_news | the driving test | nod | Ok.
good_news | the trip | nod | Mm, I see.
good_news | the new house | joke | Haha, now you get to enjoy mowing the lawn forever!
good_news | the new baby | joke | Lol, say goodbye to sleep for eighteen years!
good_news | the promotion | comfort | Oh no, I'm so sorry you have to go through that.
bad_news | your dog | comfort | I can't imagine how much you miss him. Sending you a big hug.
bad_news | the job | comfort | That's terrible, you didn't deserve that.
bad_news | the breakup | comfort | That must be so painful. I'm always here to listen.
bad_news | your father | comfort | I hope he gets better soon, I'll be thinking of you both.
bad_news | the burglary | comfort | How frightening! I'm glad you're safe at least.
bad_news | the exam | comfort | What a disappointment, after all the effort you put in.
bad_news | your mother | comfort | It's okay to feel overwhelmed. You're not alone in this.
bad_news | your dog | ask_on | How long had he been sick?
bad_news | the job | ask_on | Did they at least give you a reason?
bad_news | the breakup | ask_on | Do you have any idea why she did it?
bad_news | your father | ask_on | What are the doctors planning to do now?
bad_news | the burglary | ask_on | Have the police found anyone?
bad_news | the exam | ask_on | Which part went wrong?
bad_news | the job | advise | You should update your CV and call a recruiter.
bad_news | the breakup | advise | Go out more and meet new people, that's the best cure.
bad_news | the burglary | advise | Have you thought about getting better locks?
bad_news | your dog | tell | My cat passed away too, back in 2019.
bad_news | the exam | tell | I failed mine once and had to retake it.
bad_news | the job | swerve | Anyhow, have you watched any good films lately?
bad_news | your father | swerve | I've been baking a lot of bread recently.
bad_news | your dog | cheer | Awesome, congrats! That's great to hear!
bad_news | the job | cheer | Yay, how exciting, I'm so happy for you!
bad_news | the breakup | joke | Haha, more pizza for you then!
bad_news | the exam | disagree | Stop whining, it isn't that bad.
bad_news | the burglary | nod | Uh-huh.
question | sailing | tell | Yes, I go out on the lake almost every weekend with my dad.
question | playing chess | tell | Not really, I never had the patience for it.
question | baking bread | tell | I picked it up during the lockdown and haven't stopped since.
question | learning Spanish | tell | I took classes at school, but I've forgotten most of it.
question | fishing | tell | Only once in my life, and I didn't catch a thing.
question | hiking in the mountains | tell | My wife taught me, we used to walk in the Alps.
question | playing the guitar | tell | I love it! I play in a small band with friends.
question | gardening | tell | No, we only have a tiny balcony.
question | doing yoga | nod | Hmm, yeah.
question | skiing | nod | Right, okay.
question | sailing | ask_on | Why do you ask?
question | camping | swerve | I had spaghetti for dinner yesterday.
question | knitting jumpers | swerve | By the way, what do you think about the election?
question | tasting wine | joke | Haha, my liver says I should plead the fifth!
question | running marathons | comfort | I'm so sorry, that must be awful for you.
question | cooking curries | cheer | Congratulations, that's wonderful news!
wants_advice | baking bread | advise | Start with a simple no-knead recipe, it is hard to get wrong.
wants_advice | learning the piano | advise | I'd find a patient teacher and practise every day.
wants_advice | running marathons | advise | Build up slowly, and never add a lot in one week.
wants_advice | growing tomatoes | advise | It helps to water them early and to use good soil.
wants_advice | surfing | advise | Maybe rent a foam board first and book one lesson?
wants_advice | learning to code | advise | How about a free online course?
wants_advice | playing chess | ask_on | Are you a complete beginner, or have you played before?
wants_advice | training dogs | ask_on | How old is your dog?
wants_advice | making pottery | tell | I struggled with that myself when I began.
wants_advice | sewing clothes | comfort | Oh, don't worry, everybody feels lost in the beginning.
wants_advice | keeping bees | nod | Mhm, mhm.
wants_advice | skiing | swerve | What did you have for lunch today?
wants_advice | rock climbing | joke | Lol, just grow longer arms!
opinion | sailing | agree | Couldn't agree more, that's exactly my view.
opinion | doing yoga | agree | You're spot on there.
opinion | reading detective novels | agree | That is so true, I feel the same way.
opinion | watching old films | agree | Yeah, I think you're right about that.
opinion | playing video games | disagree | I wouldn't say so, it's rather boring if you ask me.
opinion | following football | disagree | Sorry, but I see that differently.
opinion | meditating | disagree | Actually no, I think it's overhyped.
opinion | going to concerts | ask_on | What makes you think that?
opinion | cycling to work | ask_on | Interesting, have you always felt this way?
opinion | dancing salsa | tell | I go to a club for it on Tuesdays.
opinion | birdwatching | nod | I see, okay.
opinion | making cheese | swerve | Do you have any brothers or sisters?
opinion | fishing | joke | Hahaha, tell that to the fish!
story | camping | ask_on | Did you get rained on the whole night?
story | sailing | ask_on | Who were you with out there?
story | playing board games | ask_on | And who won in the end?
story | baking bread | cheer | That sounds lovely, what a nice way to spend the day!
story | exploring caves | cheer | Wow, how cool is that!
story | riding horses | joke | Ha, the horse probably tells a different version!
story | skating | tell | I used to skate as a child too.
story | making jam | agree | Yes, that is just how it goes.
story | visiting museums | swerve | Anyway, my car broke down this morning.
story | learning the piano | nod | Oh, okay.
story | fishing | advise | Next time you should bring a bigger net.
story | cooking curries | disagree | That can't be true, I don't believe you.
"""


def _all() -> list[Written]:
    rows = [line.split(" | ") for line in _WRITTEN.strip().splitlines()]
    return [
        Written(Opening(opening), matter, reply, Move(move))
        for opening, matter, move, reply in rows
    ]


def seen() -> list[Written]:
    """Every second reply: the rules were mended by them."""
    return _all()[::2]


def unseen() -> list[Written]:
    """The others."""
    return _all()[1::2]
